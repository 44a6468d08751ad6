/** Samples one PE, its KPs and its LPs: what has changed since the last sample of the same mode. */
import { KP_FIELDS, PE_FIELDS } from '../../model/schemas/ross.ts';
import * as form from '../../model/schemas/ross-rows.ts';
import type { Activity } from '../counters.ts';
import * as counters from '../counters.ts';
import type { Pe } from '../pe.ts';
import type { SampledEngine, SamplePoint } from './pe-recorder.ts';
import { FileRows, NeutralRows, type RowForm } from './row-form.ts';
import type { SlabWriter } from './slab.ts';
import type { EventTally } from './tally.ts';
import * as tallies from './tally.ts';

// Imported bindings are checked at each use; these constants are not.
const { A, ACTIVITIES, C, COUNTERS, WITHOUT_EVENTS } = counters;
const { ROW_KP, ROW_LP, ROW_PE } = form;
const { T_ABORTED, T_PROCESSED, T_RECEIVES, T_REMOTE, T_ROLLED_BACK, T_SENDS } = tallies;

export interface Levels {
  readonly pe: boolean;
  readonly kp: boolean;
  readonly lp: boolean;
}

/** Times of a PE's record, in the order of the files. */
const NAMES: readonly Activity[] = [
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
const TIMES = NAMES.map((name) => A[name]);
const PE_TIMES = PE_FIELDS.findIndex((m) => m.key === 'network_read_time');
const PE_REMOTE = PE_FIELDS.length;
const KP_EFFICIENCY = KP_FIELDS.length - 1;

/** Per cent, as in ROSS: 0 if the net number of events is not positive. */
function efficiencyOf(processed: number, rolledBack: number): number {
  const net = processed - rolledBack;
  return net > 0 ? 100 * (1 - rolledBack / net) : 0;
}

/** One mode of one PE. */
export class Sampler {
  private readonly pe: Pe;
  private readonly engine: SampledEngine;
  private readonly slab: SlabWriter;
  private readonly levels: Levels;
  /** The counts at the last sample. */
  private readonly counts = new Float64Array(COUNTERS.length);
  private readonly seconds = new Float64Array(ACTIVITIES.length);
  private readonly words: Int32Array;
  private readonly rollbacks: Int32Array;
  /** Sums over the LPs of each KP for one sampling point: six words each. */
  private readonly sums: Int32Array;
  private readonly rows: RowForm;
  private lpStretch: LpWriter | null = null;
  /** Rows of a whole sampling point, and their words. */
  private readonly pointRows: number;
  private readonly pointWords: number;

  /**
   * @param mode number of the mode (`MODE_GVT`…)
   * @param direct whether rows have the form of the file
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
    const counts = [Number(levels.pe), levels.kp ? nkp : 0, levels.lp ? pe.ids.length : 0];
    this.pointRows = counts.reduce((sum, n) => sum + n, 0);
    this.pointWords = counts.reduce((sum, n, kind) => sum + n * words[kind], 0);
  }

  /** Whether anything has been counted since the last sample. */
  changed(): boolean {
    const now = this.pe.counts;
    return COUNTERS.some((name, k) => !WITHOUT_EVENTS.has(name) && now[k] !== this.counts[k]);
  }

  /** Writes the rows of one sampling point. */
  take(point: SamplePoint): void {
    this.rows.at(point);
    // A sampling point stays in one buffer if possible: readers of the 2017 layout need it whole.
    if (this.pointWords > this.slab.capacity) this.takePieces(point.gvt);
    else if (this.slab.ensure(this.pointWords, this.pointRows)) this.takeWhole(point.gvt);
  }

  /** There is room for all rows. KPs' rows come before those of their LPs, but are written after them, as they hold their sums. */
  private takeWhole(gvt: number): void {
    const { slab, levels, rows, pe } = this;
    const { tally } = pe;
    if (levels.pe) this.peRow(this.skip(ROW_PE, 1));
    if (tally === null) return;
    const kps = levels.kp ? this.skip(ROW_KP, pe.config.nkp) : 0;
    const { perLp, kpOf } = tally;
    if (levels.lp) {
      this.sums.fill(0);
      rows.begin(ROW_LP);
      const at = this.skip(ROW_LP, kpOf.length);
      this.lpStretch ??= lpWriter(pe, tally, this.words, slab, rows, this.sums);
      this.lpStretch(at, 0, kpOf.length);
    } else if (perLp) this.sumLps(tally);
    if (levels.kp) this.kpRows(tally, gvt, kps);
    if (!levels.lp && perLp) this.words.set(tally.words);
  }

  /** A buffer is smaller than the sampling point. */
  private takePieces(gvt: number): void {
    const { slab, levels, rows, pe } = this;
    const { tally } = pe;
    if (levels.pe && slab.ensure(rows.words[ROW_PE])) this.peRow(this.skip(ROW_PE, 1));
    if (tally === null) return;
    const { perLp, kpOf } = tally;
    if (perLp) this.sumLps(tally);
    if (levels.kp) this.kpRows(tally, gvt, -1);
    if (levels.lp) {
      const n = kpOf.length;
      const stride = rows.words[ROW_LP];
      this.lpStretch ??= lpWriter(pe, tally, this.words, slab, rows, this.sums);
      rows.begin(ROW_LP);
      for (let lp = 0; lp < n; ) {
        const room = slab.room(stride, n - lp);
        if (room > 0) this.lpStretch(this.skip(ROW_LP, room), lp, lp + room);
        lp += Math.max(1, room);
      }
    } else if (perLp) this.words.set(tally.words);
  }

  /** Takes `n` rows, for which there is room; returns the word of the first. */
  private skip(kind: number, n: number): number {
    const { slab, rows } = this;
    const at = slab.at;
    slab.at = at + rows.words[kind] * n;
    return at;
  }

  /** Writes the head of a row at word `at`; returns the word of its first field. */
  private begin(kind: number, at: number): number {
    const { slab, rows } = this;
    rows.begin(kind);
    for (let k = 0; k < rows.headWords; k++) slab.i32[at + k] = rows.head[k];
    return at + rows.headWords;
  }

  private peRow(row: number): void {
    const { pe, counts, slab } = this;
    const { i32, f32 } = slab;
    const now = pe.counts;
    const since = (k: number) => now[k] - counts[k];
    const at = this.begin(ROW_PE, row);
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
    for (let k = 0; k < TIMES.length; k++) f32[at + PE_TIMES + k] = this.secondsSince(TIMES[k]);
    if (!this.rows.direct) i32[at + PE_REMOTE] = since(C.remoteEvents);
    counts.set(now);
  }

  /** Times that are estimated anew each time may shrink. Such intervals become 0, and the sum stays true. */
  private secondsSince(activity: number): number {
    const now = this.pe.seconds[activity];
    const since = now - this.seconds[activity];
    if (!(since > 0)) return 0;
    this.seconds[activity] = now;
    return since;
  }

  /** Adds up, by KP, what LPs have counted since the last sample. */
  private sumLps(tally: EventTally): void {
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

  /** @param first word of the first row; -1: ask for room row by row */
  private kpRows(tally: EventTally, gvt: number, first: number): void {
    const { pe, slab, words, rollbacks, sums } = this;
    const { i32, f32 } = slab;
    const kpTimes = this.engine.kpTimes ?? tally.kpTimes;
    const now = tally.words;
    const nkp = pe.config.nkp;
    const stride = this.rows.words[ROW_KP];
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
      if (first < 0 && !slab.ensure(stride)) continue;
      const at = this.begin(ROW_KP, first < 0 ? this.skip(ROW_KP, 1) : first + kp * stride);
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
}

/** Writes rows of LPs `from`…`to`-1 from word `at` on, and adds their counts to their KPs' sums. */
type LpWriter = (at: number, from: number, to: number) => void;

/**
 * The only loop that may run a thousand times per GVT: a closure over constants, so that V8 compiles addresses and
 * lengths into it (in-order.ts).
 */
function lpWriter(
  pe: Pe,
  tally: EventTally,
  words: Int32Array,
  slab: SlabWriter,
  rows: RowForm,
  sums: Int32Array,
): LpWriter {
  const { i32, f32 } = slab;
  const { ids, number } = pe;
  const { kpOf, words: now } = tally;
  const { head, headWords, direct } = rows;
  const stride = rows.words[ROW_LP];

  return (start, from, to) => {
    // A row in the form of the file has a head of six words (row-form.ts), which is the same for all LPs.
    const a = head[0];
    const b = head[1];
    const c = head[2];
    const d = head[3];
    const e = head[4];
    const f = head[5];
    let row = start;
    for (let lp = from; lp < to; lp++, row += stride) {
      const at = row + headWords;
      if (direct) {
        i32[row] = a;
        i32[row + 1] = b;
        i32[row + 2] = c;
        i32[row + 3] = d;
        i32[row + 4] = e;
        i32[row + 5] = f;
      } else for (let k = 0; k < headWords; k++) i32[row + k] = head[k];
      const slot = lp << 3;
      const kp = kpOf[lp];
      const sum = kp << 3;
      const allProcessed = now[slot + T_PROCESSED];
      const allAborted = now[slot + T_ABORTED];
      const allRolledBack = now[slot + T_ROLLED_BACK];
      const allSends = now[slot + T_SENDS];
      const allReceives = now[slot + T_RECEIVES];
      const processed = (allProcessed - words[slot + T_PROCESSED]) | 0;
      const aborted = (allAborted - words[slot + T_ABORTED]) | 0;
      const rolledBack = (allRolledBack - words[slot + T_ROLLED_BACK]) | 0;
      const sends = (allSends - words[slot + T_SENDS]) | 0;
      const receives = (allReceives - words[slot + T_RECEIVES]) | 0;
      words[slot + T_PROCESSED] = allProcessed;
      words[slot + T_ABORTED] = allAborted;
      words[slot + T_ROLLED_BACK] = allRolledBack;
      words[slot + T_SENDS] = allSends;
      words[slot + T_RECEIVES] = allReceives;
      sums[sum + T_PROCESSED] += processed;
      sums[sum + T_ABORTED] += aborted;
      sums[sum + T_ROLLED_BACK] += rolledBack;
      sums[sum + T_SENDS] += sends;
      sums[sum + T_RECEIVES] += receives;
      i32[at] = number;
      i32[at + 1] = kp;
      i32[at + 2] = ids[lp];
      i32[at + 3] = processed;
      i32[at + 4] = aborted;
      i32[at + 5] = rolledBack;
      i32[at + 6] = sends;
      i32[at + 7] = receives;
      f32[at + 8] = processed > rolledBack ? 100 * (1 - rolledBack / (processed - rolledBack)) : 0;
      if (!direct) {
        i32[at + 9] = now[slot + T_REMOTE] - words[slot + T_REMOTE];
        words[slot + T_REMOTE] = now[slot + T_REMOTE];
      }
    }
  };
}
