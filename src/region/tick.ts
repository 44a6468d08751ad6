/**
 * One moment of sampling: each file that a reader needs is read once, then each reader takes its value. What was
 * read can be kept, and the values computed later.
 */
import type { Machine } from './machine.ts';
import { MsrFile, type MsrRegister } from './msr-file.ts';
import { PolledFile } from './polled-file.ts';

/** Keeps what it needs between ticks, such as the number of overflows. */
export interface SignalReader {
  /** Its value at this tick, from files that have been read; NaN if absent. Called once per tick. */
  read(): number;
}

/** What a channel is opened from: a `Signal`. */
interface Readable {
  open(index: number, tick: Tick): SignalReader | null;
  readonly computed?: true;
}

/** One signal at one native index. */
export class Channel {
  /** The value at this tick; NaN while absent. */
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
  /** Seconds since time zero at this tick; `performance.now()` is read before the files. */
  time = 0;
  /** `performance.now()` at time zero; it can be set. */
  zero: number;
  private readonly polled: Polled[] = [];
  private readonly files = new Map<string, PolledFile>();
  private readonly msrs = new Map<number, MsrFile>();
  private readonly channels = new Map<Readable, Map<number, Channel>>();
  /** In the order in which they were opened: the channels that a channel is computed from come before it. */
  private readonly measured: Channel[] = [];
  private readonly computed: Channel[] = [];
  private readonly _shared = new Map<string, unknown>();

  constructor(machine: Machine, zero: number) {
    this.machine = machine;
    this.zero = zero;
  }

  /** A file below the root folder, such as `proc/stat`. */
  file(path: string): PolledFile {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const file = new PolledFile(this.machine.path(path), !this.machine.isThisMachine);
    this.files.set(path, file);
    this.polled.push(file);
    return file;
  }

  msr(cpu: number, register: number): MsrRegister {
    let file = this.msrs.get(cpu);
    if (file === undefined) {
      file = new MsrFile(this.machine, cpu);
      this.msrs.set(cpu, file);
      this.polled.push(file);
    }
    return file.register(register);
  }

  /** Anything else that is polled once per tick and closed at the end; made when first asked for. */
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

  /** Reads all files. @param time s since time zero, if the sample's moment was earlier; now if omitted */
  read(time?: number): void {
    this.time = time ?? (performance.now() - this.zero) / 1000;
    const [polled, measured] = [this.polled, this.measured];
    for (let k = 0; k < polled.length; k++) polled[k].poll();
    for (let k = 0; k < measured.length; k++) measured[k].take();
  }

  /** Computes the values. */
  compute(): void {
    const computed = this.computed;
    for (let k = 0; k < computed.length; k++) computed[k].take();
  }

  /** Number of numbers that `keep` writes. */
  get kept(): number {
    return 1 + this.measured.length;
  }

  /** Writes what was read to `into`, from index `at` on. */
  keep(into: Float64Array, at: number): void {
    const measured = this.measured;
    into[at] = this.time;
    for (let k = 0; k < measured.length; k++) into[at + 1 + k] = measured[k].value;
  }

  /** Takes what `keep` wrote in place of a reading. */
  recall(from: Float64Array, at: number): void {
    const measured = this.measured;
    this.time = from[at];
    for (let k = 0; k < measured.length; k++) measured[k].value = from[at + 1 + k];
  }

  close(): void {
    for (const polled of this.polled) polled.close();
  }
}
