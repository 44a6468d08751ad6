/**
 * One moment of sampling: every file that a reader asked for is read once, then every reader takes its value. What has been
 * read may be kept, and what follows from it computed later.
 */
import type { Machine } from './machine.ts';
import { MsrFile, type Register } from './msr-file.ts';
import { PolledFile } from './polled-file.ts';

/** Holds what it needs between ticks, such as overflows counted. */
export interface SignalReader {
  /** Its value at this tick, of files already read; NaN where it is absent. Called once per tick. */
  read(): number;
}

/** What a channel is opened from: a `Signal`. */
interface Readable {
  open(index: number, tick: Tick): SignalReader | null;
  readonly computed?: true;
}

/** One signal at one native index. */
export class Channel {
  /** At this tick; NaN while absent. */
  value = Number.NaN;
  private readonly reader: SignalReader | null;

  constructor(reader: SignalReader | null) {
    this.reader = reader;
  }

  take(): void {
    if (this.reader !== null) this.value = this.reader.read();
  }
}

interface Polled {
  poll(): void;
  close(): void;
}

export class Tick {
  readonly machine: Machine;
  /** Seconds since time zero at this tick; `performance.now()` is taken before the files are read. */
  time = 0;
  /** `performance.now()` of time zero, which may be set. */
  zero: number;
  private readonly polled: Polled[] = [];
  private readonly files = new Map<string, PolledFile>();
  private readonly msrs = new Map<number, MsrFile>();
  private readonly channels = new Map<Readable, Map<number, Channel>>();
  /** In the order they were opened: what a channel is made of comes before it. */
  private readonly measured: Channel[] = [];
  private readonly computed: Channel[] = [];
  private readonly _shared = new Map<string, unknown>();

  constructor(machine: Machine, zero: number) {
    this.machine = machine;
    this.zero = zero;
  }

  /** A file below the root, such as `proc/stat`. */
  file(path: string): PolledFile {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const file = new PolledFile(this.machine.path(path), !this.machine.isThisMachine);
    this.files.set(path, file);
    this.polled.push(file);
    return file;
  }

  msr(cpu: number, register: number): Register {
    let file = this.msrs.get(cpu);
    if (file === undefined) {
      file = new MsrFile(this.machine, cpu);
      this.msrs.set(cpu, file);
      this.polled.push(file);
    }
    return file.register(register);
  }

  /** Something else to be polled once per tick and closed at the end, made when first asked for. */
  poller<T extends Polled>(key: string, make: () => T): T {
    const known = this._shared.get(key);
    if (known !== undefined) return known as T;
    const made = make();
    this._shared.set(key, made);
    this.polled.push(made);
    return made;
  }

  /** What readers of one provider share, such as a parsed file; made when first asked for. */
  shared<T>(key: string, make: () => T): T {
    if (!this._shared.has(key)) this._shared.set(key, make());
    return this._shared.get(key) as T;
  }

  channel(signal: Readable, index: number): Channel {
    let ofSignal = this.channels.get(signal);
    if (ofSignal === undefined) {
      ofSignal = new Map();
      this.channels.set(signal, ofSignal);
    }
    const known = ofSignal.get(index);
    if (known !== undefined) return known;
    const channel = new Channel(signal.open(index, this));
    ofSignal.set(index, channel);
    (signal.computed ? this.computed : this.measured).push(channel);
    return channel;
  }

  take(): void {
    this.read();
    this.compute();
  }

  /** Takes what has to be read. @param time s since time zero, where the moment of the sample was before; else now */
  read(time?: number): void {
    this.time = time ?? (performance.now() - this.zero) / 1000;
    const [polled, measured] = [this.polled, this.measured];
    for (let k = 0; k < polled.length; k++) polled[k].poll();
    for (let k = 0; k < measured.length; k++) measured[k].take();
  }

  /** Takes what follows from it. */
  compute(): void {
    const computed = this.computed;
    for (let k = 0; k < computed.length; k++) computed[k].take();
  }

  /** Numbers that `keep` writes. */
  get kept(): number {
    return 1 + this.measured.length;
  }

  /** Writes what was read to `into`, from `at` on. */
  keep(into: Float64Array, at: number): void {
    const measured = this.measured;
    into[at] = this.time;
    for (let k = 0; k < measured.length; k++) into[at + 1 + k] = measured[k].value;
  }

  /** Takes what `keep` wrote for what was read. */
  recall(from: Float64Array, at: number): void {
    const measured = this.measured;
    this.time = from[at];
    for (let k = 0; k < measured.length; k++) measured[k].value = from[at + 1 + k];
  }

  close(): void {
    for (const polled of this.polled) polled.close();
  }
}
