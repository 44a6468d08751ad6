/**
 * Entities × time: the picture of a metric over PEs, KPs or LPs. Runs in the server and in the page.
 *
 * A cell is the mean over its time: for a counter the amount per second, for a state its value. Ratios are computed
 * from their parts in each cell and for the whole window, never averaged. Where a level was not sampled, its entities
 * are the sums of those below.
 */
import {
  EFFICIENCY,
  evaluate,
  inputsOf,
  type Measure,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
} from '../../model/measures/index.ts';
import type { Metric } from '../../model/metric.ts';
import { PER_CENT } from '../../model/units.ts';
import type { SeriesStore } from '../series/store.ts';
import { kindOf, type SeriesClock, type SeriesTable } from '../series/table.ts';
import type { Track } from '../series/track.ts';
import { STEP, type Steps } from '../steps.ts';
import { DEPTH, isWithin, LEVELS, type Level, TABLES, upTo } from './levels.ts';

export interface HeatAsk {
  readonly level: Level;
  /** Key of a metric, or of a ratio. */
  readonly metric: string;
  /** Path of the entity whose parts are shown; '': all. */
  readonly within: string;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  /** Records of the run were lost: cells after a gap are marked. */
  readonly lossy?: boolean;
}

export interface HeatMetric {
  readonly key: string;
  /** Of a cell's value. */
  readonly unit: string;
  readonly help: string;
}

export interface Heat extends HeatMetric {
  readonly level: Level;
  /** Table that it was made from. */
  readonly table: string;
  /** Paths of the entities, in the order of their numbers. */
  readonly rows: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  /** Row by row; NaN where nothing was measured. */
  readonly values: Float32Array;
  /** By row, over the window. */
  readonly totals: Float32Array;
  /** By row: seconds of the window that were measured. */
  readonly seconds: Float32Array;
  /** 1 if samples are missing just before: the count may be too low. Empty if nothing was lost. */
  readonly doubtful: Float32Array;
}

/** From this many times the usual interval on, samples between two are assumed lost. */
const HOLE = 3;
/** Computed at each level and in each window. */
const RATIOS = [EFFICIENCY, ROLLED_BACK_SHARE, SECONDARY_SHARE];

const has = (table: SeriesTable, keys: readonly string[]) =>
  keys.every((key) => table.keys.includes(key));

/** Whether any row has a value of a column: files have columns that their run never filled. */
function* isFilled(table: SeriesTable, key: string): Steps<boolean> {
  const column = table.keys.indexOf(key);
  for (const { track } of table.tracks()) {
    const values = track.column(column);
    for (let row = 0; row < track.length; row++) if (!Number.isNaN(values[row])) return true;
    yield track.length;
  }
  return false;
}

const ratioOf = (metric: string): Measure | undefined => RATIOS.find(({ key }) => key === metric);

function partsOf(metric: string): readonly string[] {
  const ratio = ratioOf(metric);
  return ratio === undefined ? [metric] : inputsOf(ratio);
}

/** The level's own table, or the next lower one that has the metric. */
function* tableFor(store: SeriesStore, level: Level, metric: string): Steps<SeriesTable | null> {
  for (const one of LEVELS.slice(LEVELS.indexOf(level))) {
    const table = store.table(TABLES[one]);
    const parts = partsOf(metric);
    if (table === undefined || !has(table, parts)) continue;
    let filled = 0;
    for (const key of parts) if (yield* isFilled(table, key)) filled++;
    if (filled === parts.length) return table;
  }
  return null;
}

/** Factor and unit of a metric's cells: amounts are per second, seconds per second per cent. */
function scaleOf(
  { kind, unit, help, key }: Metric,
  clock: SeriesClock,
): HeatMetric & { readonly factor: number } {
  if (kind !== 'event') return { key, unit: unit === '1' ? '' : unit, help, factor: 1 };
  if (clock === 'virtual') return { key, unit: `${unit} per virtual time`, help, factor: 1 };
  if (unit === 's') return { key, unit: '% of time', help, factor: PER_CENT };
  return { key, unit: `${unit}/s`, help, factor: 1 };
}

/** What can be shown of a level, ratios first. */
export function* heatMetrics(store: SeriesStore, level: Level): Steps<HeatMetric[]> {
  const found = new Map<string, HeatMetric>();
  const times = ['virtual_time', 'gvt', 'gvt_index'];
  for (const { key, unit, help } of RATIOS) {
    if ((yield* tableFor(store, level, key)) !== null) found.set(key, { key, unit, help });
  }
  for (const one of LEVELS.slice(LEVELS.indexOf(level))) {
    const table = store.table(TABLES[one]);
    for (const metric of table?.schema.metrics ?? []) {
      const { key } = metric;
      if (!table?.keys.includes(key) || times.includes(key) || found.has(key)) continue;
      if (!(yield* isFilled(table, key))) continue;
      const { unit, help } = scaleOf(metric, store.clock);
      found.set(key, { key, unit, help });
    }
  }
  return [...found.values()];
}

/** One entity's sums of a column by bin: value × seconds, and the seconds. */
class Spread {
  readonly sums: Float64Array;
  readonly spans: Float64Array;
  /** Amounts of rows that cover no time that is known: of a file's first sample, or of clocks that stand still. */
  loose = 0;
  private readonly from: number;
  private readonly to: number;
  private readonly width: number;

  constructor({ from, to, bins }: HeatAsk) {
    this.sums = new Float64Array(bins);
    this.spans = new Float64Array(bins);
    this.from = from;
    this.to = to;
    this.width = (to - from) / bins;
  }

  /** Rows that begin in order of time: the bin in which one begins never goes back. */
  load(track: Track, column: number, asRate: boolean): void {
    const { sums, spans } = this;
    sums.fill(0);
    spans.fill(0);
    this.loose = 0;
    const [from, to, width] = [this.from, this.to, this.width];
    const { times, froms, length } = track;
    const values = track.column(column);
    const last = sums.length - 1;
    let first = 0;
    let next = from + width;
    let row = track.firstAfter(from);
    // The sample at the window's start may be the first.
    while (row > 0 && times[row - 1] === from && froms[row - 1] === from) row--;
    for (; row < length; row++) {
      const begin = froms[row];
      const end = times[row];
      const span = end - begin;
      const value = values[row];
      if (begin > to || (begin === to && span > 0)) break;
      if (span === 0 && asRate && !Number.isNaN(value)) this.loose += value;
      if (!(span > 0) || Number.isNaN(value)) continue;
      while (begin >= next && first < last) next = from + (++first + 1) * width;
      // Most rows lie in one bin where there are more rows than bins: no division then.
      if (end <= next && begin >= from) {
        sums[first] += asRate ? value : value * span;
        spans[first] += span;
        continue;
      }
      const rate = asRate ? value / span : value;
      for (let bin = first; bin <= last; bin++) {
        const edge = from + bin * width;
        const overlap = Math.min(end, edge + width) - Math.max(begin, edge);
        if (overlap > 0) {
          sums[bin] += rate * overlap;
          spans[bin] += overlap;
        }
        if (end <= edge + width) break;
      }
    }
  }
}

interface Grid {
  readonly values: Float32Array;
  readonly totals: Float32Array;
  /** Amounts in the window, those of rows without a time too. */
  readonly counts: Float64Array;
  readonly seconds: Float32Array;
}

interface Member {
  readonly row: number;
  readonly track: Track;
}

/** A metric's means for each row; members of one row become one as the metric says. */
function* gridOf(
  table: SeriesTable,
  metric: Metric,
  members: readonly Member[],
  rows: number,
  spread: Spread,
): Steps<Grid> {
  const bins = spread.sums.length;
  const values = new Float32Array(rows * bins).fill(Number.NaN);
  const totals = new Float32Array(rows).fill(Number.NaN);
  const counts = new Float64Array(rows).fill(Number.NaN);
  const seconds = new Float32Array(rows);
  const column = table.keys.indexOf(metric.key);
  const asRate = kindOf(metric) === 'rate';
  const isMost = metric.over === 'max';
  const join = (into: Float32Array | Float64Array, at: number, value: number) => {
    const old = into[at];
    if (Number.isNaN(old)) into[at] = value;
    else into[at] = isMost ? Math.max(old, value) : old + value;
  };
  for (const { row, track } of members) {
    spread.load(track, column, asRate);
    const { sums, spans } = spread;
    let [all, time] = [0, 0];
    const { loose } = spread;
    for (let bin = 0, at = row * bins; bin < bins; bin++, at++) {
      const span = spans[bin];
      if (span === 0) continue;
      all += sums[bin];
      time += span;
      join(values, at, sums[bin] / span);
    }
    if (time > 0) join(totals, row, all / time);
    if (time > 0 || loose !== 0) join(counts, row, all + loose);
    seconds[row] = Math.max(seconds[row], time);
    yield track.length + bins;
  }
  return { values, totals, counts, seconds };
}

/** `parts`: a grid for each input. Rates of one span are to each other as the counts are; the window's are of the counts. */
function* ratioGrid(ratio: Measure, parts: readonly Grid[]): Steps<Grid> {
  const inputs = inputsOf(ratio);
  function* combine(of: (grid: Grid) => ArrayLike<number>): Steps<Float32Array> {
    const columns = new Map(inputs.map((key, n) => [key, of(parts[n])]));
    let at = 0;
    const value = (key: string) => columns.get(key)?.[at] ?? null;
    const values = new Float32Array(of(parts[0]).length);
    for (; at < values.length; at++) {
      values[at] = evaluate(ratio, value, null) ?? Number.NaN;
      if (at % STEP === 0) yield STEP;
    }
    return values;
  }
  return {
    ...parts[0],
    values: yield* combine((grid) => grid.values),
    totals: yield* combine((grid) => grid.counts),
  };
}

/** Bins covered by a row with a gap before it. */
function* doubtfulBins(
  members: readonly Member[],
  rows: number,
  ask: HeatAsk,
): Steps<Float32Array> {
  const { from, to, bins } = ask;
  const marks = new Float32Array(rows * bins);
  const width = (to - from) / bins;
  for (const { row, track } of members) {
    const { times, froms, length } = track;
    const spans = Float64Array.from({ length }, (_, k) => times[k] - froms[k]).sort();
    const usual = spans[length >> 1];
    for (let k = Math.max(1, track.firstAfter(from)); k < length && froms[k] < to; k++) {
      if (times[k] - froms[k] < HOLE * usual) continue;
      const first = Math.max(0, Math.floor((froms[k] - from) / width));
      const last = Math.min(bins - 1, Math.floor((times[k] - from) / width));
      marks.fill(1, row * bins + first, row * bins + last + 1);
    }
    yield length;
  }
  return marks;
}

/** Null if nothing of the level, or below, has the metric. */
export function* heatOf(
  store: SeriesStore,
  ask: HeatAsk,
  fits: (cells: number) => void = () => {},
): Steps<Heat | null> {
  const { level, metric, within, from, to, bins } = ask;
  const table = yield* tableFor(store, level, metric);
  if (table === null) return null;
  const rows: string[] = [];
  const rowOf = new Map<string, number>();
  const members: Member[] = [];
  for (const { name, track } of table.tracks()) {
    const path = upTo(name, DEPTH[level]);
    if (!isWithin(path, within)) continue;
    let row = rowOf.get(path);
    if (row === undefined) {
      row = rows.push(path) - 1;
      rowOf.set(path, row);
    }
    members.push({ row, track });
  }
  fits(rows.length * bins);
  const spread = new Spread(ask);
  const grids: Grid[] = [];
  for (const key of partsOf(metric)) {
    const declared = table.schema.metrics.find((one) => one.key === key) as Metric;
    grids.push(yield* gridOf(table, declared, members, rows.length, spread));
  }
  const ratio = ratioOf(metric);
  const own = table.schema.metrics.find(({ key }) => key === metric) as Metric;
  const { factor, ...said } =
    ratio === undefined ? scaleOf(own, store.clock) : { ...ratio, factor: 1 };
  const { values, totals, seconds } =
    ratio === undefined ? grids[0] : yield* ratioGrid(ratio, grids);
  if (factor !== 1) {
    for (const column of [values, totals]) {
      for (let k = 0; k < column.length; k++) column[k] *= factor;
    }
  }
  const doubtful = ask.lossy ? yield* doubtfulBins(members, rows.length, ask) : new Float32Array(0);
  const { key, unit, help } = said;
  const place = { level, table: table.schema.name, rows, from, to, bins };
  return { key, unit, help, ...place, values, totals, seconds, doubtful };
}
