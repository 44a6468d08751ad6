/** Samples of one PE, its KPs and its LPs: what has changed since the last sample of the same mode. */
import { KP_FIELDS, PE_FIELDS } from '../../model/schemas/ross.ts';
import * as form from '../../model/schemas/ross-rows.ts';
import type { Activity } from '../counters.ts';
import * as counters from '../counters.ts';
import type { Pe } from '../pe.ts';
import { FileRows, NeutralRows, type RowForm } from './row-form.ts';
import type { SlabWriter } from './slab.ts';
import type { Tally } from './tally.ts';
import * as tallies from './tally.ts';

// Imported bindings are checked at each use; these are not.
const { A, ACTIVITIES, C, COUNTERS } = counters;
const { ROW_KP, ROW_LP, ROW_PE } = form;
const { T_ABORTED, T_PROCESSED, T_RECEIVES, T_REMOTE, T_ROLLED_BACK, T_SENDS } = tallies;

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
  private readonly rows: RowForm;
  private lpStretch: LpWriter | null = null;
  /** Words of a whole sampling point. */
  private readonly pointWords: number;

  /**
   * @param mode number of the mode (`MODE_GVT`…)
   * @param direct whether rows are the bytes of the file
   */
  constructor(
    pe: Pe,
    engine: SampledEngine,
    slab: SlabWriter,
    levels: Levels,
    mode: number,
    direct: boolean,
  ) {
    this.pe = pe;
    this.engine = engine;
    this.slab = slab;
    this.levels = levels;
    const { tally } = pe;
    this.words = new Int32Array(tally?.words.length ?? 0);
    this.rollbacks = new Int32Array(tally?.rollbacks.length ?? 0);
    const nkp = pe.config.nkp;
    this.sums = new Int32Array(nkp * 8);
    this.rows = direct ? new FileRows() : new NeutralRows(mode);
    const { words } = this.rows;
    this.pointWords =
      (levels.pe ? words[ROW_PE] : 0) +
      (levels.kp ? words[ROW_KP] * nkp : 0) +
      (levels.lp ? words[ROW_LP] * pe.ids.length : 0);
  }

  /** Whether anything has been counted since the last sample. */
  changed(): boolean {
    const now = this.pe.counts;
    return COUNTERS.some((name, k) => name !== 'idleTurns' && now[k] !== this.counts[k]);
  }

  /** Writes the rows of one sampling point. */
  take(point: SamplePoint): void {
    const { slab, rows } = this;
    rows.at(point);
    // A point stays in one buffer where it can: readers of the 2017 layout need it whole.
    if (this.pointWords <= slab.capacity) slab.ensure(this.pointWords);
    if (this.levels.pe && slab.ensure(rows.words[ROW_PE])) this.peRow();
    const { tally } = this.pe;
    if (tally === null) return;
    if (this.levels.kp) {
      if (tally.perLp) this.sumLps(tally);
      this.kpRows(tally, point.gvt);
    }
    if (this.levels.lp) this.lpRows(tally);
    else if (tally.perLp) this.words.set(tally.words);
  }

  /** Writes the head of a row, for which there is room; returns the word of its first field. */
  private begin(kind: number): number {
    const { slab, rows } = this;
    const at = slab.at;
    rows.begin(kind);
    for (let k = 0; k < rows.headWords; k++) slab.i32[at + k] = rows.head[k];
    slab.at = at + rows.words[kind];
    return at + rows.headWords;
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
    if (!this.rows.direct) i32[at + PE_REMOTE] = since(C.remoteEvents);
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

  /** Adds up what LPs have counted since the last sample, by KP. */
  private sumLps(tally: Tally): void {
    const { sums, words } = this;
    sums.fill(0);
    const { kpOf, words: now } = tally;
    const n = kpOf.length;
    for (let lp = 0; lp < n; lp++) {
      const from = lp << 3;
      const to = kpOf[lp] << 3;
      sums[to] += now[from] - words[from];
      sums[to + 1] += now[from + 1] - words[from + 1];
      sums[to + 2] += now[from + 2] - words[from + 2];
      sums[to + 3] += now[from + 3] - words[from + 3];
      sums[to + 4] += now[from + 4] - words[from + 4];
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
      if (!slab.ensure(this.rows.words[ROW_KP])) continue;
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
    const { slab } = this;
    const n = tally.kpOf.length;
    const stride = this.rows.words[ROW_LP];
    this.lpStretch ??= lpWriter(this.pe, tally, this.words, slab, this.rows);
    this.rows.begin(ROW_LP);
    for (let lp = 0; lp < n; ) {
      const room = slab.room(stride, n - lp);
      if (room > 0) slab.at = this.lpStretch(slab.at, lp, lp + room);
      lp += Math.max(1, room);
    }
  }
}

/** Writes rows of LPs `from`…`to`-1 from word `at` on; returns the word after them. */
type LpWriter = (at: number, from: number, to: number) => number;

/**
 * The one loop that may run a thousand times per GVT: a closure over constants, so that V8 compiles addresses and
 * lengths into it (in-order.ts).
 */
function lpWriter(
  pe: Pe,
  tally: Tally,
  words: Int32Array,
  slab: SlabWriter,
  rows: RowForm,
): LpWriter {
  const { i32, f32 } = slab;
  const { ids, number } = pe;
  const { kpOf, words: now } = tally;
  const { head, headWords, direct } = rows;
  const stride = rows.words[ROW_LP];

  return (start, from, to) => {
    let row = start;
    for (let lp = from; lp < to; lp++) {
      for (let k = 0; k < headWords; k++) i32[row + k] = head[k];
      const at = row + headWords;
      const c = lp << 3;
      const processed = (now[c + T_PROCESSED] - words[c + T_PROCESSED]) | 0;
      const rolledBack = (now[c + T_ROLLED_BACK] - words[c + T_ROLLED_BACK]) | 0;
      i32[at] = number;
      i32[at + 1] = kpOf[lp];
      i32[at + 2] = ids[lp];
      i32[at + 3] = processed;
      i32[at + 4] = now[c + T_ABORTED] - words[c + T_ABORTED];
      i32[at + 5] = rolledBack;
      i32[at + 6] = now[c + T_SENDS] - words[c + T_SENDS];
      i32[at + 7] = now[c + T_RECEIVES] - words[c + T_RECEIVES];
      f32[at + 8] = processed > rolledBack ? 100 * (1 - rolledBack / (processed - rolledBack)) : 0;
      if (!direct) i32[at + 9] = now[c + T_REMOTE] - words[c + T_REMOTE];
      for (let k = 0; k <= T_REMOTE; k++) words[c + k] = now[c + k];
      row += stride;
    }
    return row;
  };
}
