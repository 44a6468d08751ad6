/**
 * Where the application is, CPU by CPU, and as signals: REGION_HASH, REGION_HINT, REGION_PROGRESS, EPOCH_COUNT,
 * TIME_HINT_*. A CPU's region is the one on which the processes that may run on it agree. A CPU on which no process may run
 * has no value, and is left out of every aggregate.
 */
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import { HINTS } from '../../model/region-layout.ts';
import type { Provider, Signal, SignalDeclaration, SignalReader } from '../signals/provider.ts';
import type { ApplicationProcess } from './process-table.ts';

const UNKNOWN_HINT = 1;

/** Hints that reports list, in their order. */
export const REPORTED_HINTS = [
  'network',
  'ignore',
  'compute',
  'memory',
  'io',
  'serial',
  'parallel',
  'unknown',
  'unset',
  'spin',
] as const;

export class Application {
  /** Seconds of each hint, by its number: mean over the active CPUs. */
  readonly hintSeconds = new Float64Array(HINTS.length);
  /** Per CPU; NaN where inactive. */
  readonly hash: Float64Array;
  readonly hint: Float64Array;
  readonly progress: Float64Array;
  readonly epochs: Float64Array;
  /** Seconds in each hint, at CPU × hint. */
  readonly seconds: Float64Array;
  private readonly users: Uint16Array;
  /** 1: a process may have run on this CPU. */
  private readonly wasActive: Uint8Array;
  /** Share of the active CPUs' time in each hint, since `#time`. */
  private readonly share = new Float64Array(HINTS.length);
  private readonly cpuShare: Float64Array;
  private time = Number.NaN;

  /** @param count CPUs: the largest number plus one */
  constructor(count: number) {
    this.hash = new Float64Array(count).fill(Number.NaN);
    this.hint = new Float64Array(count).fill(Number.NaN);
    this.progress = new Float64Array(count).fill(Number.NaN);
    this.epochs = new Float64Array(count).fill(Number.NaN);
    this.seconds = new Float64Array(count * HINTS.length);
    this.users = new Uint16Array(count);
    this.wasActive = new Uint8Array(count);
    this.cpuShare = new Float64Array(count * HINTS.length);
  }

  /**
   * Adds the time since the last call to the previous hints, then updates where the processes are.
   * @param time s since time zero
   */
  update(time: number, processes: readonly ApplicationProcess[]): void {
    this.pass(time);
    const { hash, hint, progress, epochs } = this;
    const users = this.users;
    const count = users.length;
    // Not fill(): that is a call, for a few cells.
    for (let cpu = 0; cpu < count; cpu++) users[cpu] = 0;
    for (const process of processes) {
      const { cpus } = process.page;
      const some = someWithin(cpus, count);
      const n = some ? cpus.length : count;
      for (let k = 0; k < n; k++) {
        const cpu = some ? cpus[k] : k;
        if (cpu >= count) continue;
        const first = users[cpu]++ === 0;
        hash[cpu] = first || hash[cpu] === process.hash ? process.hash : HASH_UNMARKED;
        hint[cpu] = first || hint[cpu] === process.hint ? process.hint : UNKNOWN_HINT;
        progress[cpu] = first ? process.progress : progress[cpu] + process.progress;
        epochs[cpu] = first ? process.epochs : Math.min(epochs[cpu], process.epochs);
      }
    }
    const share = this.share;
    const cpuShare = this.cpuShare;
    for (let h = 0; h < share.length; h++) share[h] = 0;
    for (let k = 0; k < cpuShare.length; k++) cpuShare[k] = 0;
    let active = 0;
    for (let cpu = 0; cpu < count; cpu++) {
      if (users[cpu] > 0) {
        active++;
        if (this.wasActive[cpu] === 0) this.activate(cpu);
      } else {
        hash[cpu] = Number.NaN;
        hint[cpu] = Number.NaN;
        progress[cpu] = Number.NaN;
        epochs[cpu] = Number.NaN;
      }
    }
    if (active === 0) return;
    for (const process of processes) {
      const { cpus } = process.page;
      const some = someWithin(cpus, count);
      const n = some ? cpus.length : count;
      for (let k = 0; k < n; k++) {
        const cpu = some ? cpus[k] : k;
        if (cpu >= count) continue;
        // Processes on one CPU share its time equally.
        share[process.hint] += 1 / (users[cpu] * active);
        cpuShare[cpu * HINTS.length + process.hint] += 1 / users[cpu];
      }
    }
  }

  /** A CPU that becomes active begins with the mean, so that the mean over CPUs does not jump. */
  private activate(cpu: number): void {
    this.wasActive[cpu] = 1;
    this.seconds.set(this.hintSeconds, cpu * HINTS.length);
  }

  private pass(time: number): void {
    const span = Number.isNaN(this.time) ? 0 : time - this.time;
    this.time = time;
    if (span <= 0) return;
    for (let h = 0; h < HINTS.length; h++) this.hintSeconds[h] += span * this.share[h];
    const { seconds, users, share, cpuShare } = this;
    for (let k = 0, cpu = 0; cpu < users.length; cpu++) {
      // The time of a CPU on which no process may run any more is divided among the others, so that the mean stays.
      const [of, at] = users[cpu] > 0 ? [cpuShare, k] : [share, 0];
      for (let h = 0; h < HINTS.length; h++, k++) seconds[k] += span * of[at + h];
    }
  }

  /** The signals of this provider. */
  provider(): Provider {
    const per = (values: Float64Array) => (cpu: number) => () => values[cpu];
    const signals = DECLARATIONS.map((declaration): Signal => {
      const read = this.readerOf(declaration.name, per);
      return {
        ...declaration,
        computed: true,
        open: (cpu) => ({ read: read(cpu) }) satisfies SignalReader,
      };
    });
    return {
      name: 'application',
      source: 'region pages of the processes that region launch started',
      declares: DECLARATIONS,
      open: () => ({ signals }),
    };
  }

  private readerOf(name: string, per: (values: Float64Array) => (cpu: number) => () => number) {
    if (name === 'REGION_HASH') return per(this.hash);
    if (name === 'REGION_HINT') return per(this.hint);
    if (name === 'REGION_PROGRESS') return per(this.progress);
    if (name === 'EPOCH_COUNT') return per(this.epochs);
    const hint = HINTS.findIndex((h) => name === `TIME_HINT_${h.toUpperCase()}`);
    return (cpu: number) => () =>
      this.wasActive[cpu] === 0 ? Number.NaN : this.seconds[cpu * HINTS.length + hint];
  }
}

/** Whether the process's CPUs are known, and the machine (or recorded tree) that is read has any of them. */
function someWithin(cpus: readonly number[], count: number): boolean {
  return cpus.length > 0 && cpus[0] < count;
}

const of = (
  name: string,
  description: string,
  rest: Pick<SignalDeclaration, 'behaviour' | 'aggregation' | 'format'> & { unit?: 's' },
): SignalDeclaration => ({ name, description, unit: '', domain: 'cpu', ...rest });

/** Signals that exist only in a run with an application. Source: GEOPM's ProfileIOGroup manual page. */
const DECLARATIONS: readonly SignalDeclaration[] = [
  of('REGION_HASH', 'Hash of the region that all are in, otherwise that of the unmarked region', {
    behaviour: 'label',
    aggregation: 'region_hash',
    format: 'hex',
  }),
  of('REGION_HINT', 'Hint of the innermost region that all are in, otherwise UNKNOWN', {
    behaviour: 'label',
    aggregation: 'region_hint',
    format: 'hex',
  }),
  of('REGION_PROGRESS', 'Work done of the work announced for the region, 0 to 1', {
    behaviour: 'variable',
    aggregation: 'average',
    format: 'float',
  }),
  of('EPOCH_COUNT', 'Epochs so far; the least where processes differ', {
    behaviour: 'monotone',
    aggregation: 'min',
    format: 'integer',
  }),
  ...REPORTED_HINTS.map((hint) =>
    of(`TIME_HINT_${hint.toUpperCase()}`, `Seconds with the hint ${hint}`, {
      behaviour: 'monotone',
      aggregation: 'average',
      format: 'double',
      unit: 's',
    }),
  ),
];
