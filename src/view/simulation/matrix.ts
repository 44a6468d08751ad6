/** Who sends to whom, in numbers of messages, at the level of PEs, KPs or LPs. Runs in the server. */

import type { SeriesStore } from '../series/store.ts';
import { STEP, type Steps, sorted } from '../steps.ts';
import type { Events } from './events.ts';
import { heatOf } from './heat.ts';
import { byNumbers, isWithin, type Level } from './levels.ts';
import type { PlacesByLp } from './places.ts';
import type { Rollbacks } from './rollbacks.ts';

/** Most rows and columns: if there are more entities, neighbours are grouped. */
const MOST_GROUPS = 512;

/**
 * `events`: traced events, each once per time that it was handled. `sends`: counters of PEs, which tell how many
 * messages left a PE, not where to. `rollbacks`: who sent what rolled whom back.
 */
type MatrixOf = 'events' | 'sends' | 'rollbacks';

export interface MatrixAsk {
  readonly of: MatrixOf;
  readonly level: Level;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  /** Path that contains the senders, or the receivers; '': all. */
  readonly within: string;
}

export interface Matrix {
  readonly of: MatrixOf;
  readonly level: Level;
  /** Path that all that is counted comes from, or goes to: that asked for, or the part of it that is known; '': all. */
  readonly within: string;
  /** Senders by path, in order; of groups the first of each. */
  readonly rows: readonly string[];
  /** Receivers. */
  readonly columns: readonly string[];
  /** Entities in each row and column, except perhaps the last. */
  readonly each: number;
  /** Row by row; NaN if unknown. */
  readonly counts: Float32Array;
  /** All of them. */
  readonly total: number;
  /** Those that stay within an entity. */
  readonly own: number;
}

/** Numbers of entities by their paths, as they come. */
class Entities {
  readonly paths: string[] = [];
  private readonly codes = new Map<string, number>();

  code(path: string): number {
    let code = this.codes.get(path);
    if (code === undefined) {
      code = this.paths.push(path) - 1;
      this.codes.set(path, code);
    }
    return code;
  }
}

/** Entities in order as rows, so many in each that they can be drawn. */
function* groups(
  { paths }: Entities,
  codes: readonly number[],
): Steps<{ readonly names: string[]; readonly each: number; readonly groupOf: Int32Array }> {
  const order = yield* sorted(codes, (a, b) => byNumbers(paths[a], paths[b]) || a - b);
  const each = Math.max(1, Math.ceil(order.length / MOST_GROUPS));
  const names = order.filter((_, k) => k % each === 0).map((code) => paths[code]);
  const groupOf = new Int32Array(paths.length).fill(-1);
  order.forEach((code, k) => {
    groupOf[code] = Math.floor(k / each);
  });
  return { names, each, groupOf };
}

/** Pairs of codes with their counts as a matrix in the order of the entities' numbers. */
function* fold(
  ask: MatrixAsk,
  entities: Entities,
  kept: ReadonlyMap<number, number>,
): Steps<Matrix> {
  const { of, level, within } = ask;
  const { names, each, groupOf } = yield* groups(entities, [...entities.paths.keys()]);
  const counts = new Float32Array(names.length ** 2);
  let [total, own, k] = [0, 0, 0];
  for (const [pair, count] of kept) {
    if (k++ % STEP === 0) yield STEP;
    const [from, to] = [Math.floor(pair / PAIR), pair % PAIR];
    counts[groupOf[from] * names.length + groupOf[to]] += count;
    total += count;
    if (from === to) own += count;
  }
  return { of, level, within, rows: names, columns: names, each, counts, total, own };
}

const PAIR = 2 ** 26;

/** Null if no events were traced, or the PEs and KPs of their LPs are unknown. */
export function* matrixOfEvents(
  events: Events,
  places: PlacesByLp,
  ask: MatrixAsk,
): Steps<Matrix | null> {
  if (events.length === 0 || (ask.level !== 'lp' && places.size === 0)) return null;
  const { of, level, from, to, within } = ask;
  const { source, destination, times, length, lps } = events;
  const isIn = new Uint8Array(lps);
  for (let lp = 0; lp < lps; lp++) {
    if (lp % STEP === 0) yield STEP;
    if (isWithin(places.pathOf(lp, 'lp'), within)) isIn[lp] = 1;
  }
  const isThere = new Uint8Array(lps);
  for (let k = 0; k < length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    const [sender, receiver] = [source[k], destination[k]];
    if (t < from || t >= to || (isIn[sender] | isIn[receiver]) === 0) continue;
    isThere[sender] = 1;
    isThere[receiver] = 1;
  }
  const entities = new Entities();
  const codes = new Int32Array(lps).fill(-1);
  for (let lp = 0; lp < lps; lp++) {
    if (lp % STEP === 0) yield STEP;
    if (isThere[lp] === 1) codes[lp] = entities.code(places.pathOf(lp, level));
  }
  const { names, each, groupOf } = yield* groups(entities, [...entities.paths.keys()]);
  const counts = new Float32Array(names.length ** 2);
  let [total, own] = [0, 0];
  for (let k = 0; k < length; k++) {
    if (k % STEP === 0) yield STEP;
    const t = times[k];
    const [sender, receiver] = [source[k], destination[k]];
    if (t < from || t >= to || (isIn[sender] | isIn[receiver]) === 0) continue;
    const [a, b] = [codes[sender], codes[receiver]];
    counts[groupOf[a] * names.length + groupOf[b]]++;
    total++;
    if (a === b) own++;
  }
  return { of, level, within, rows: names, columns: names, each, counts, total, own };
}

/** Who rolled whom back; for those rolled back, the level of LPs is unknown. Null if nothing is known. */
export function* matrixOfRollbacks(
  rollbacks: Rollbacks,
  places: PlacesByLp,
  ask: MatrixAsk,
): Steps<Matrix | null> {
  const { from, to, level, within } = ask;
  if (rollbacks.length === 0 || level === 'lp') return null;
  if (level === 'kp' && places.size === 0) return null;
  const entities = new Entities();
  const pairs = new Map<number, number>();
  const column = rollbacks.column.bind(rollbacks);
  const [times, pes, kps] = [column('real_time'), column('pe_id'), column('kp_id')];
  const [sourcePes, sourceLps] = [column('source_pe'), column('source_lp')];
  for (let k = 0; k < rollbacks.length; k++) {
    if (k % STEP === 0) yield STEP;
    if (times[k] < from || times[k] >= to) continue;
    if (within !== '') {
      // Whole paths: what a KP sends is less than what its PE does.
      const known = places.pathOf(sourceLps[k], 'lp');
      const from = known.startsWith('?') ? String(sourcePes[k]) : known;
      if (!isWithin(from, within) && !isWithin(`${pes[k]}/${kps[k]}`, within)) continue;
    }
    const sender = level === 'pe' ? String(sourcePes[k]) : places.pathOf(sourceLps[k], level);
    const undone = level === 'pe' ? String(pes[k]) : `${pes[k]}/${kps[k]}`;
    const pair = entities.code(sender) * PAIR + entities.code(undone);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return yield* fold(ask, entities, pairs);
}

/**
 * By PEs' counters of messages sent: with two PEs the counters give the destination; with more, only the number sent.
 * Messages are not counted by KP: for a KP, all messages of its PE are given.
 */
export function* matrixOfSends(samples: SeriesStore, ask: MatrixAsk): Steps<Matrix | null> {
  const { from, to, of } = ask;
  const [within] = ask.within.split('/');
  const place = { level: 'pe' as const, within: '', from, to, bins: 1 };
  const heat = yield* heatOf(samples, { ...place, metric: 'network_sends' });
  if (heat === null || heat.rows.length < 2) return null;
  const { totals, seconds } = heat;
  // Totals are rates over the time that was measured.
  const all = totals.map((rate, row) => Math.round(rate * seconds[row]));
  const isShown = (row: number) => heat.rows.length === 2 || isWithin(heat.rows[row], within);
  const rows = heat.rows.filter((_, row) => isShown(row));
  const counts = all.filter((_, row) => isShown(row));
  const total = counts.reduce((sum, count) => sum + (count || 0), 0);
  if (heat.rows.length === 2) {
    const missing = Number.NaN;
    const both = Float32Array.of(missing, counts[0], counts[1], missing);
    return { of, level: 'pe', within, rows, columns: rows, each: 1, counts: both, total, own: 0 };
  }
  return { of, level: 'pe', within, rows, columns: ['other PEs'], each: 1, counts, total, own: 0 };
}
