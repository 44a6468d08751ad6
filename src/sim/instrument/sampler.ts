/** Samples of one PE, its KPs and its LPs: what has changed since the last sample of the same mode. */
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../model/schemas/ross.ts';
import {
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_KP,
  ROW_LP,
  ROW_MODE,
  ROW_PAYLOAD,
  ROW_PE,
  ROW_REAL,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import { A, ACTIVITIES, type Activity, C, COUNTERS } from '../counters.ts';
import type { Pe } from '../pe.ts';
import type { SlabWriter } from './slab.ts';
import {
  T_ABORTED,
  T_PROCESSED,
  T_RECEIVES,
  T_REMOTE,
  T_ROLLED_BACK,
  T_SENDS,
  type Tally,
} from './tally.ts';

/** When and where a sample is taken. */
export interface SamplePoint {
  /** Seconds since the run's zero. */
  real: number;
  virtual: number;
  gvt: number;
  gvtIndex: number;
}

/** What samples need of the engine. */
export interface SampledEngine {
  /** Events handled and not committed. */
  uncommitted(): number;
  /** Receive time of each KP's newest event, where the engine keeps it; -Infinity for none uncommitted. */
  readonly kpTimes: Float64Array | null;
}

export interface Levels {
  readonly pe: boolean;
  readonly kp: boolean;
  readonly lp: boolean;
}

/** Times of a PE's record, in the order of the files. */
const TIMES: readonly Activity[] = [
  'networkRead',
  'networkOther',
  'gvt',
  'fossilCollect',
  'eventAbort',
  'eventProcess',
  'priorityQueue',
  'rollback',
  'cancelQueue',
  'avl',
  'buddy',
  'lz4',
];
const PE_TIMES = PE_FIELDS.findIndex((m) => m.key === 'network_read_time');
const PE_REMOTE = PE_FIELDS.length;
const KP_EFFICIENCY = KP_FIELDS.length - 1;
const LP_EFFICIENCY = LP_FIELDS.length - 1;

/** Per cent; as ROSS: 0 where net is not positive. */
export function efficiencyOf(processed: number, rolledBack: number): number {
  const net = processed - rolledBack;
  return net > 0 ? 100 * (1 - rolledBack / net) : 0;
}

/** One mode of one PE. */
export class Sampler {
  private readonly pe: Pe;
  private readonly engine: SampledEngine;
  private readonly slab: SlabWriter;
  private readonly levels: Levels;
  /** What had been counted at the last sample. */
  private readonly counts = new Float64Array(COUNTERS.length);
  private readonly seconds = new Float64Array(ACTIVITIES.length);
  private readonly words: Int32Array;
  private readonly rollbacks: Int32Array;
  /** Sums of one point over the LPs of each KP: six words each. */
  private readonly sums: Int32Array;
  /** The first ten words of each row of a point. */
  private readonly head = new Int32Array(32);
  private readonly headTimes = new Float64Array(this.head.buffer);
  private readonly words1: number;

  /** @param mode number of the mode (`MODE_GVT`…) */
  constructor(pe: Pe, engine: SampledEngine, slab: SlabWriter, levels: Levels, mode: number) {
    this.pe = pe;
    this.engine = engine;
    this.slab = slab;
    this.levels = levels;
    const { tally } = pe;
    this.words = new Int32Array(tally?.words.length ?? 0);
    this.rollbacks = new Int32Array(tally?.rollbacks.length ?? 0);
    const nkp = pe.config.nkp;
    this.sums = new Int32Array(nkp * 8);
    this.head[ROW_MODE] = mode;
    this.words1 =
      (levels.pe ? ROW_WORDS[ROW_PE] : 0) +
      (levels.kp ? ROW_WORDS[ROW_KP] * nkp : 0) +
      (levels.lp ? ROW_WORDS[ROW_LP] * pe.ids.length : 0);
  }

  /** Whether anything has been counted since the last sample. */
  changed(): boolean {
    const now = this.pe.counts;
    return COUNTERS.some((name, k) => name !== 'idleTurns' && now[k] !== this.counts[k]);
  }

  /** Writes the rows of one sampling point. */
  take(point: SamplePoint): void {
    const { head, headTimes, slab } = this;
    headTimes[ROW_REAL >> 1] = point.real;
    headTimes[ROW_VIRTUAL >> 1] = point.virtual;
    headTimes[ROW_GVT >> 1] = point.gvt;
    head[ROW_GVT_INDEX] = point.gvtIndex;
    head[ROW_PAYLOAD] = 0;
    // A point stays in one buffer where it can: readers of the 2017 layout need it whole.
    if (this.words1 <= slab.capacity) slab.ensure(this.words1);
    if (this.levels.pe && slab.ensure(ROW_WORDS[ROW_PE])) this.peRow();
    const { tally } = this.pe;
    if (tally === null) return;
    if (this.levels.kp) {
      if (tally.perLp) this.sumLps(tally);
      this.kpRows(tally, point.gvt);
    }
    if (this.levels.lp) this.lpRows(tally);
    else if (tally.perLp) this.words.set(tally.words);
  }

  private begin(kind: number): number {
    const { slab, head } = this;
    const at = slab.at;
    head[ROW_KIND] = kind;
    for (let k = 0; k < ROW_FIELDS; k++) slab.i32[at + k] = head[k];
    slab.at = at + ROW_WORDS[kind];
    return at + ROW_FIELDS;
  }

  private peRow(): void {
    const { pe, counts, slab } = this;
    const { i32, f32 } = slab;
    const now = pe.counts;
    const since = (k: number) => now[k] - counts[k];
    const at = this.begin(ROW_PE);
    const processed = since(C.eventsProcessed);
    const rolledBack = since(C.eventsRolledBack);
    const secondary = since(C.secondaryRollbacks);
    i32[at] = pe.number;
    i32[at + 1] = processed;
    i32[at + 2] = since(C.eventsAborted);
    i32[at + 3] = rolledBack;
    i32[at + 4] = since(C.primaryRollbacks) + secondary;
    i32[at + 5] = secondary;
    i32[at + 6] = since(C.fossilCollects);
    i32[at + 7] = Math.max(0, pe.pool.live - this.engine.uncommitted());
    i32[at + 8] = since(C.remoteSends);
    i32[at + 9] = since(C.remoteReceives);
    i32[at + 10] = now[C.gvtComputations];
    i32[at + 11] = since(C.eventTies);
    i32[at + 12] = since(C.allReduces);
    f32[at + 13] = efficiencyOf(processed, rolledBack);
    for (let k = 0; k < TIMES.length; k++) f32[at + PE_TIMES + k] = this.secondsSince(A[TIMES[k]]);
    i32[at + PE_REMOTE] = since(C.remoteEvents);
    counts.set(now);
  }

  /** Times that are estimated anew each time may shrink: the sum stays true, no interval is negative. */
  private secondsSince(activity: number): number {
    const now = this.pe.seconds[activity];
    const since = now - this.seconds[activity];
    if (!(since > 0)) return 0;
    this.seconds[activity] = now;
    return since;
  }

  private sumLps(tally: Tally): void {
    const { sums, words } = this;
    sums.fill(0);
    const { kpOf } = tally;
    const now = tally.words;
    for (let lp = 0; lp < kpOf.length; lp++) {
      const from = lp << 3;
      const to = kpOf[lp] << 3;
      for (let k = 0; k <= T_RECEIVES; k++) sums[to + k] += now[from + k] - words[from + k];
    }
  }

  private kpRows(tally: Tally, gvt: number): void {
    const { pe, slab, words, rollbacks, sums } = this;
    const { i32, f32 } = slab;
    const kpTimes = this.engine.kpTimes ?? tally.kpTimes;
    const now = tally.words;
    const nkp = pe.config.nkp;
    for (let kp = 0; kp < nkp; kp++) {
      const from = kp << 3;
      if (!tally.perLp) {
        for (let k = 0; k <= T_RECEIVES; k++) {
          sums[from + k] = now[from + k] - words[from + k];
          words[from + k] = now[from + k];
        }
      }
      const all = tally.rollbacks[kp * 2] - rollbacks[kp * 2];
      const secondary = tally.rollbacks[kp * 2 + 1] - rollbacks[kp * 2 + 1];
      rollbacks[kp * 2] += all;
      rollbacks[kp * 2 + 1] += secondary;
      if (!slab.ensure(ROW_WORDS[ROW_KP])) continue;
      const at = this.begin(ROW_KP);
      i32[at] = pe.number;
      i32[at + 1] = kp;
      i32[at + 2] = sums[from + T_PROCESSED];
      i32[at + 3] = sums[from + T_ABORTED];
      i32[at + 4] = sums[from + T_ROLLED_BACK];
      i32[at + 5] = all;
      i32[at + 6] = secondary;
      i32[at + 7] = sums[from + T_SENDS];
      i32[at + 8] = sums[from + T_RECEIVES];
      f32[at + 9] = gvt < Infinity ? Math.max(0, kpTimes[kp] - gvt) : 0;
      f32[at + KP_EFFICIENCY] = efficiencyOf(sums[from + T_PROCESSED], sums[from + T_ROLLED_BACK]);
    }
  }

  private lpRows(tally: Tally): void {
    const { pe, slab, words } = this;
    const { i32, f32 } = slab;
    const { ids, number } = pe;
    const now = tally.words;
    const { kpOf } = tally;
    for (let lp = 0; lp < kpOf.length; lp++) {
      const from = lp << 3;
      if (!slab.ensure(ROW_WORDS[ROW_LP])) continue;
      const at = this.begin(ROW_LP);
      i32[at] = number;
      i32[at + 1] = kpOf[lp];
      i32[at + 2] = ids[lp];
      const processed = now[from + T_PROCESSED] - words[from + T_PROCESSED];
      const rolledBack = now[from + T_ROLLED_BACK] - words[from + T_ROLLED_BACK];
      i32[at + 3] = processed;
      i32[at + 4] = now[from + T_ABORTED] - words[from + T_ABORTED];
      i32[at + 5] = rolledBack;
      i32[at + 6] = now[from + T_SENDS] - words[from + T_SENDS];
      i32[at + 7] = now[from + T_RECEIVES] - words[from + T_RECEIVES];
      f32[at + LP_EFFICIENCY] = efficiencyOf(processed, rolledBack);
      i32[at + 9] = now[from + T_REMOTE] - words[from + T_REMOTE];
      for (let k = 0; k <= T_REMOTE; k++) words[from + k] = now[from + k];
    }
  }
}
