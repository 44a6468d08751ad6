/** Samples for the report: its fields and the signals that the user adds, collected and attributed. */
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import { HINTS } from '../../model/region-layout.ts';
import { type AttributedSignal, Attribution } from '../attribution.ts';
import type { Platform } from '../platform.ts';
import { SignalError } from '../signal-error.ts';
import type { SignalDomain } from '../signals/provider.ts';
import { type Application, REPORTED_HINTS } from './application.ts';

/** Fields by the board's signal from which they are computed, if the machine has it. */
const FIELD_SIGNALS = [
  'CPU_ENERGY',
  'DRAM_ENERGY',
  'CPU_CYCLES_THREAD',
  'CPU_CYCLES_REFERENCE',
  'GPU_ENERGY',
  'GPU_CORE_ENERGY',
  'GPU_CORE_FREQUENCY_STATUS',
  'CPU_UNCORE_FREQUENCY_STATUS',
] as const;

type FieldSignal = (typeof FIELD_SIGNALS)[number];

const STICKER = 'CPU_FREQUENCY_STICKER';

/**
 * The signal that `SIGNAL` or `SIGNAL@domain` names.
 * @throws SignalError if it does not exist here, or has no total
 */
export function signalRequest(platform: Platform, request: string) {
  const [name, where = 'board'] = request.split('@');
  const domain = platform.domain(where);
  const info = platform.info(name);
  if (info === null) {
    // The error names the signals that exist.
    platform.push(name, domain, 0);
    throw new SignalError(`${name}: there is no such signal`);
  }
  const { behaviour } = info;
  if (!isTotalled(behaviour)) {
    throw new SignalError(`${name} is ${behaviour}: it has neither a change nor a mean to report`);
  }
  return { name, domain, behaviour };
}

/** Time, then hints, then the platform's. */
const TIME = 0;
const FIRST_HINT = 1;
const FIRST_PUSHED = FIRST_HINT + REPORTED_HINTS.length;

/** Number of samples kept from before the application began. */
const MOST_PAST = 256;

interface UserSignal {
  readonly key: string;
  readonly signal: number;
}

export class Sampled {
  private readonly platform: Platform;
  private readonly application: Application;
  private readonly signals: AttributedSignal[];
  /** Platform's handles, of the signals from FIRST_PUSHED on. */
  private readonly handles: number[] = [];
  private readonly fields = new Map<FieldSignal, number>();
  /** -1: the GPUs count their energy, or give neither energy nor power. */
  private readonly gpuPower: number = -1;
  private readonly user: UserSignal[] = [];
  /** Platform's handles of REGION_HASH for each scope. */
  private readonly scopes: number[] = [];
  private readonly scopeAt = new Map<string, number>();
  private readonly hashes: Uint32Array;
  private readonly values: Float64Array;
  /** Samples from before the application began: its page may be found some samples after the process made it. */
  private past: readonly Float64Array[] = [];
  /** Values at the moment when it began; null: it has not. */
  private first: Float64Array | null = null;
  private readonly weighFromZero: boolean;
  private readonly sticker: number;
  private attribution: Attribution;

  /**
   * @param requests `SIGNAL` or `SIGNAL@domain`
   * @throws SignalError if one does not exist here, or has no total
   */
  constructor(
    platform: Platform,
    application: Application,
    requests: readonly string[],
    weighFromZero: boolean,
  ) {
    this.platform = platform;
    this.application = application;
    this.weighFromZero = weighFromZero;
    const board = this.scope('board', 0);
    this.signals = Array.from({ length: FIRST_PUSHED }, () => {
      return { behaviour: 'monotone', scope: board };
    });
    for (const name of FIELD_SIGNALS) {
      const info = platform.info(name);
      if (info === null || !isTotalled(info.behaviour)) continue;
      this.fields.set(name, this.push(name, 'board', 0, info.behaviour));
    }
    // For a GPU without an energy counter, the mean of its power.
    const power = platform.info('GPU_POWER');
    const hasPower = !this.fields.has('GPU_ENERGY') && power?.behaviour === 'variable';
    if (hasPower) this.gpuPower = this.push('GPU_POWER', 'board', 0, 'variable');
    for (const request of requests) this.request(request);
    this.sticker = platform.info(STICKER) === null ? -1 : platform.push(STICKER, 'board', 0);
    this.hashes = new Uint32Array(this.scopes.length);
    this.values = new Float64Array(this.signals.length).fill(Number.NaN);
    this.attribution = this.fresh();
  }

  private fresh(): Attribution {
    return new Attribution(this.signals, { weighFromZero: this.weighFromZero });
  }

  /** Scope of a domain's index. If no CPUs belong to it, as with a nic, all CPUs of the board. */
  private scope(domain: SignalDomain, index: number): number {
    const platform = this.platform;
    const nests = platform.topology.nests('cpu', domain);
    const key = nests ? `${domain} ${index}` : 'board 0';
    const known = this.scopeAt.get(key);
    if (known !== undefined) return known;
    const [where, at] = nests ? [domain, index] : (['board', 0] as const);
    this.scopeAt.set(key, this.scopes.length);
    return this.scopes.push(platform.push('REGION_HASH', where, at)) - 1;
  }

  private push(
    name: string,
    domain: SignalDomain,
    index: number,
    behaviour: 'monotone' | 'variable',
  ) {
    this.handles.push(this.platform.push(name, domain, index));
    return this.signals.push({ behaviour, scope: this.scope(domain, index) }) - 1;
  }

  private request(request: string): void {
    const { name, domain, behaviour } = signalRequest(this.platform, request);
    const indices = this.platform.topology.indices(domain);
    for (const index of indices.length === 0 ? [0] : indices) {
      const key = domain === 'board' ? name : `${name}@${domain}-${index}`;
      this.user.push({ key, signal: this.push(name, domain, index, behaviour) });
    }
  }

  /** Begins. @param time of the platform's first reading: on a busy machine, milliseconds after time zero */
  begin(time: number): void {
    this.gather(time);
    this.restart(time);
  }

  /**
   * Discards all earlier values and begins at `time`, in no region.
   * @param now time of the last reading of the platform, not before `time`
   */
  beginAt(time: number, now: number): void {
    this.gather(now);
    this.remember();
    const then = this.recall(time);
    this.first = this.values.slice();
    this.restart(then);
  }

  /** The application had begun earlier: time and energy from `time` on belong to it, in no region. */
  beginEarlier(time: number): void {
    const { first } = this;
    if (first === null) return;
    const now = this.values.slice();
    const then = this.recall(time);
    if (then < first[TIME]) {
      this.attribution.before(this.values, first, first[TIME] - then);
      this.first = this.values.slice();
    }
    this.values.set(now);
  }

  /** Sets `values` to those at `time`, before the application began or at its begin. Returns the time. */
  private recall(time: number): number {
    const { past } = this;
    const found = past.findIndex((values) => values[TIME] >= time);
    const k = found < 0 ? past.length - 1 : Math.max(1, found);
    this.values.set(past[k]);
    return this.interpolate(past[k - 1], time);
  }

  private restart(time: number): void {
    this.attribution = this.fresh();
    this.hashes.fill(HASH_UNMARKED);
    this.attribution.update(time, this.values, this.hashes, 0);
    this.remember();
  }

  private remember(): void {
    if (this.first === null) this.past = [...this.past.slice(1 - MOST_PAST), this.values.slice()];
  }

  /** Attributes what the platform read last. @param epoch EPOCH_* */
  update(time: number, epoch: number): void {
    this.gather(time);
    this.attribute(time, epoch);
    this.remember();
  }

  /** As `update`, for a `time` before `now`, when the platform was read last. After `time` no process is in a region. */
  end(time: number, now: number, epoch: number): void {
    const before = this.values.slice();
    this.gather(now);
    const then = this.interpolate(before, Math.min(time, now));
    this.hashes.fill(HASH_UNMARKED);
    this.attribution.update(then, this.values, this.hashes, epoch);
  }

  private attribute(time: number, epoch: number): void {
    const hashes = this.hashes;
    for (let s = 0; s < hashes.length; s++) {
      const hash = this.platform.sample(this.scopes[s]);
      hashes[s] = Number.isNaN(hash) ? HASH_UNMARKED : hash;
    }
    this.attribution.update(time, this.values, hashes, epoch);
  }

  /**
   * Sets `values` to those at `time`, by linear interpolation between the previous and the present sample. Returns the time, or that of
   * the previous sample if it is later.
   */
  private interpolate(before: Float64Array, time: number): number {
    const values = this.values;
    const now = values[TIME];
    const then = Number.isNaN(before[TIME]) ? time : Math.max(time, before[TIME]);
    values[TIME] = then;
    const share = (then - before[TIME]) / (now - before[TIME]);
    if (!(share >= 0 && share < 1)) return then;
    for (let s = FIRST_HINT; s < values.length; s++) {
      if (this.signals[s].behaviour !== 'monotone') continue;
      const change = values[s] - before[s];
      // NaN before: only the present value is known.
      if (!Number.isNaN(change)) values[s] = before[s] + share * change;
    }
    return then;
  }

  private gather(time: number): void {
    const values = this.values;
    values[TIME] = time;
    for (let k = 0; k < REPORTED_HINTS.length; k++) {
      values[FIRST_HINT + k] = this.application.hintSeconds[HINT_NUMBERS[k]];
    }
    for (let k = 0; k < this.handles.length; k++) {
      values[FIRST_PUSHED + k] = this.platform.sample(this.handles[k]);
    }
  }

  /** Row of a region's totals. */
  rowOf(hash: number): number | null {
    return this.attribution.rowOf(hash);
  }

  /** Seconds of samples in this row. */
  seconds(row: number | null): number {
    return this.attribution.total(row, TIME);
  }

  /** Signals of fields that this machine does not have, or that never had a value. */
  absent(): string[] {
    return FIELD_SIGNALS.filter((name) => !this.has(name));
  }

  private has(name: FieldSignal): boolean {
    const signal = this.fields.get(name);
    return signal !== undefined && this.attribution.seen(signal);
  }

  /** `sync-runtime (s)` and all fields after it. Absent signals have no field. @param sync value of the first one */
  section(row: number | null, sync: number): [string, number][] {
    const out: [string, number][] = [['sync-runtime (s)', sync]];
    const total = (signal: number) => this.attribution.total(row, signal);
    const put = (name: FieldSignal, key: string, from: (value: number) => number = (v) => v) => {
      const signal = this.fields.get(name);
      if (signal === undefined || !this.has(name)) return;
      const value = from(total(signal));
      out.push([key, Number.isNaN(value) ? 0 : value]);
    };
    const watts = (joules: number) => (sync > 0 ? joules / sync : 0);
    put('CPU_ENERGY', 'package-energy (J)');
    put('DRAM_ENERGY', 'dram-energy (J)');
    put('CPU_ENERGY', 'power (W)', watts);
    const reference = this.fields.get('CPU_CYCLES_REFERENCE');
    if (reference !== undefined && this.has('CPU_CYCLES_REFERENCE')) {
      const cycles = total(reference);
      const ratio = (thread: number) => (cycles > 0 ? thread / cycles : 0);
      put('CPU_CYCLES_THREAD', 'frequency (%)', (thread) => 100 * ratio(thread));
      const sticker = this.sticker < 0 ? Number.NaN : this.platform.sample(this.sticker);
      if (!Number.isNaN(sticker)) {
        put('CPU_CYCLES_THREAD', 'frequency (Hz)', (thread) => sticker * ratio(thread));
      }
    }
    for (const [k, hint] of REPORTED_HINTS.entries()) {
      out.push([`time-hint-${hint} (s)`, total(FIRST_HINT + k)]);
    }
    put('GPU_ENERGY', 'gpu-energy (J)');
    put('GPU_ENERGY', 'gpu-power (W)', watts);
    const gpuPower = this.gpuPower < 0 ? Number.NaN : total(this.gpuPower);
    if (!Number.isNaN(gpuPower)) out.push(['gpu-power (W)', gpuPower]);
    put('GPU_CORE_ENERGY', 'gpu-core-energy (J)');
    put('GPU_CORE_ENERGY', 'gpu-core-power (W)', watts);
    put('GPU_CORE_FREQUENCY_STATUS', 'gpu-frequency (Hz)');
    put('CPU_UNCORE_FREQUENCY_STATUS', 'uncore-frequency (Hz)');
    for (const { key, signal } of this.user) out.push([key, total(signal)]);
    return out;
  }
}

const HINT_NUMBERS = REPORTED_HINTS.map((hint) => HINTS.indexOf(hint));

const isTotalled = (behaviour: string): behaviour is 'monotone' | 'variable' =>
  behaviour === 'monotone' || behaviour === 'variable';
