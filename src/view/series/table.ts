/** One schema's samples: a track per entity, fed with batches. Runs in the server and in the page. */
import { Counter, type CounterRule, risen } from '../../model/counter.ts';
import { ruleOf } from '../../model/counter-rules.ts';
import { BEYOND, modeOf, VIRTUAL_TIMES } from '../../model/measures/index.ts';
import type { Batch, Column, Metric, Schema } from '../../model/metric.ts';
import type { Steps } from '../steps.ts';
import { type Bins, emptyBins, type RowLimit, Track } from './track.ts';

/** Columns with the time, entity and mode of a sample, which are not drawn as series. */
const REAL_TIMES = ['real_time', 'time', 't'];

/** The unit of the series' times: seconds, or virtual time where samples have no real time, or all the same. */
export type SeriesClock = 'real' | 'virtual';
const TIMES: Readonly<Record<SeriesClock, readonly string[]>> = {
  real: REAL_TIMES,
  virtual: VIRTUAL_TIMES,
};
const MODE = 'mode';
const LABELS = [
  ...['host', 'device', 'process_id', 'thread_id', 'resource', 'cgroup'],
  ...['process', 'thread', 'counter', 'series'],
];
const IDS: Readonly<Record<string, readonly string[]>> = {
  pe: ['pe_id'],
  kp: ['pe_id', 'kp_id'],
  lp: ['pe_id', 'kp_id', 'lp_id'],
};

/** Domains whose entities exist from the run's start on; others may be older or younger than the run. */
const OF_RUN: readonly string[] = ['recording', 'pe', 'kp', 'lp', 'region'];

const byName = new Intl.Collator('en', { numeric: true });

/** How a metric is drawn. `rate`: amounts per second. */
export type DrawnKind = 'rate' | 'value';

export const kindOf = (metric: Metric): DrawnKind => (metric.kind === 'event' ? 'rate' : 'value');

/** Columns of a schema, by their part. */
interface Plan {
  readonly time: number;
  readonly mode: number;
  readonly ids: readonly number[];
  readonly series: readonly number[];
}

/** Null where a schema has no time: it cannot be drawn over one. */
function planOf({ domain, metrics }: Schema, clock: SeriesClock): Plan | null {
  const find = (key: string) => metrics.findIndex((metric) => metric.key === key);
  const time = TIMES[clock].map(find).find((k) => k >= 0);
  if (time === undefined) return null;
  const ids = (IDS[domain] ?? LABELS).map(find).filter((k) => k >= 0);
  const series = metrics.flatMap(({ key, cell, behaviour }, k) =>
    k === time ||
    REAL_TIMES.includes(key) ||
    ids.includes(k) ||
    key === MODE ||
    cell === 'label' ||
    behaviour === 'constant'
      ? []
      : [k],
  );
  return { time, mode: find(MODE), ids, series };
}

/** Values of 4 bytes that a row's two times take. */
const TIMES_VALUES = 4;
/** Rows of an entity that are kept in any case. */
const LEAST_ROWS = 64;

/** Rows of a batch whose entities are remembered. */
const MOST_BEFORE = 8192;

interface Entity {
  readonly name: string;
  /** What sampled it, as in the column `mode`. */
  readonly mode: string;
  readonly track: Track;
  /** By series: its counter, or the row before of a total that is a double; unset before the first row. */
  readonly totals: (Counter | number | undefined)[];
  /** Gaps of the table when its last row came. */
  gaps: number;
}

export interface EntityBins extends Bins {
  readonly entity: string;
}

export class SeriesTable {
  readonly schema: Schema;
  /** Keys of the metrics that can be drawn. */
  readonly keys: readonly string[];
  /** Rows that were left out because they are older than the last row of their entity. */
  outOfOrder = 0;
  private readonly plan: Plan;
  private readonly metrics: readonly Metric[];
  /** By series: the rule of a running total; null for what is none. */
  private readonly rules: readonly (CounterRule | null)[];
  private readonly _entities = new Map<string, Entity>();
  private readonly most: number;
  /** Rows kept per entity: what its share of `#most` allows. */
  private readonly limit: RowLimit = { rows: Infinity };
  private gaps = 0;
  /** The entity of each row of the last batch. */
  private readonly before: { readonly entity: Entity; readonly ids: readonly unknown[] }[] = [];
  /** Ways in which entities were sampled. */
  private readonly modes: string[] = [];
  /** The chosen entities when there were `size` of all: sorting many names takes long. */
  private order: {
    readonly mode: string;
    readonly size: number;
    readonly list: readonly Entity[];
  } | null = null;

  private constructor(schema: Schema, plan: Plan, most: number) {
    this.schema = schema;
    this.plan = plan;
    this.metrics = plan.series.map((k) => schema.metrics[k]);
    this.keys = this.metrics.map(({ key }) => key);
    this.rules = this.metrics.map((metric) =>
      metric.kind === 'event' && metric.form === 'total' ? ruleOf(schema.name, metric) : null,
    );
    this.most = most;
  }

  /** Null where the schema has no time. `most`: values kept in all, about. */
  static of(schema: Schema, most = Infinity, clock: SeriesClock = 'real'): SeriesTable | null {
    const plan = planOf(schema, clock);
    return plan === null ? null : new SeriesTable(schema, plan, most);
  }

  /** Numbers of the columns that are looked at; null where nothing can be drawn. */
  static columnsOf(schema: Schema, clock: SeriesClock): readonly number[] | null {
    const plan = planOf(schema, clock);
    if (plan === null || plan.series.length === 0) return null;
    const { time, mode, ids, series } = plan;
    return [...new Set([time, ...(mode < 0 ? [] : [mode]), ...ids, ...series])];
  }

  /** Samples were lost: amounts and states until the next row of each entity are not known. */
  gap(): void {
    this.gaps++;
  }

  /**
   * Takes a batch of this schema. `zero`: what to take off its times. `since`: an entity's first row tells of the
   * time from there on, where it is of the simulation: what a run finds there, or starts, has another beginning. Null: not known.
   */
  add(batch: Batch, zero: number, since: number | null = 0): void {
    const { time, mode, ids, series } = this.plan;
    const begin = OF_RUN.includes(this.schema.domain) ? since : null;
    const times = batch.columns[time] as Float64Array;
    const modes = mode < 0 ? null : (batch.columns[mode] as readonly string[]);
    const idColumns = ids.map((k) => batch.columns[k]);
    const columns = series.map((k) => batch.columns[k]);
    for (let row = 0; row < batch.rows; row++) {
      const entity = this.entity(idColumns, modes?.[row] ?? '', row);
      this.row(entity, times[row] - zero, columns, row, begin);
    }
  }

  /** The entity of a row: mostly that of the same row of the batch before. */
  private entity(ids: readonly Column[], mode: string, row: number): Entity {
    const before = this.before[row];
    if (before !== undefined && before.entity.mode === mode) {
      let same = true;
      for (let k = 0; k < ids.length; k++) if (ids[k][row] !== before.ids[k]) same = false;
      if (same) return before.entity;
    }
    const entity = this.named(ids, mode, row);
    if (row < MOST_BEFORE) this.before[row] = { entity, ids: ids.map((column) => column[row]) };
    return entity;
  }

  private named(ids: readonly Column[], mode: string, row: number): Entity {
    let name = ids.length === 0 ? '' : String(ids[0][row]);
    for (let k = 1; k < ids.length; k++) name += `/${ids[k][row]}`;
    const key = `${mode} ${name}`;
    let entity = this._entities.get(key);
    if (entity === undefined) {
      const track = new Track(this.keys.length, this.limit);
      entity = { name, mode, track, totals: [], gaps: this.gaps };
      this._entities.set(key, entity);
      if (!this.modes.includes(mode)) this.modes.push(mode);
      const values = this._entities.size * (this.keys.length + TIMES_VALUES);
      this.limit.rows = Math.max(LEAST_ROWS, Math.floor(this.most / values));
    }
    return entity;
  }

  private row(
    entity: Entity,
    time: number,
    columns: readonly Column[],
    row: number,
    begin: number | null,
  ): void {
    const { track, totals } = entity;
    const first = begin === null ? time : Math.min(begin, time);
    const from = track.length === 0 ? first : track.last;
    const torn = entity.gaps !== this.gaps;
    if (!(time >= track.last && time < BEYOND) || (torn && time === track.last)) {
      // Repeated samples: nothing is missing after them.
      entity.gaps = this.gaps;
      this.outOfOrder++;
      return;
    }
    track.add(from, time);
    // Running totals include what was counted in a gap.
    entity.gaps = this.gaps;
    for (let k = 0; k < columns.length; k++) {
      const value = columns[k][row] as number | bigint;
      const rule = this.rules[k];
      if (rule !== null) track.set(k, counted(totals, k, rule, time, value));
      else track.set(k, torn ? Number.NaN : Number(value));
    }
  }

  /** Samples of the entities, in the order of their names. */
  tracks(): readonly { readonly name: string; readonly track: Track }[] {
    return this.chosen();
  }

  /** Entities sampled in the mode that is drawn. */
  private chosen(): readonly Entity[] {
    let best = this.modes[0] ?? '';
    if (this.modes.length > 1) {
      const rows = new Map<string, number>();
      for (const { mode, track } of this._entities.values()) {
        rows.set(mode, (rows.get(mode) ?? 0) + track.length);
      }
      best = modeOf(rows);
    }
    const size = this._entities.size;
    if (this.order?.mode !== best || this.order.size !== size) {
      const list = [...this._entities.values()].filter(({ mode }) => mode === best);
      list.sort((a, b) => byName.compare(a.name, b.name));
      this.order = { mode: best, size, list };
    }
    return this.order.list;
  }

  get entities(): readonly string[] {
    return this.chosen().map(({ name }) => name);
  }

  get rows(): number {
    let rows = 0;
    for (const { track } of this._entities.values()) rows += track.length;
    return rows;
  }

  /** Whether time passes between the samples that are drawn. */
  get moves(): boolean {
    return this.chosen().some(({ track }) => track.last > track.first);
  }

  /** Seconds of the first and the last sample; null where there is none. */
  get span(): readonly [number, number] | null {
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { track } of this._entities.values()) {
      first = Math.min(first, track.first);
      last = Math.max(last, track.last);
    }
    return first <= last ? [first, last] : null;
  }

  /**
   * Bins of the sum of metrics `keys` (of one kind) over [from, to), for each entity, or those named.
   * Null where a metric is not there.
   */
  *bins(
    keys: readonly string[],
    from: number,
    to: number,
    count: number,
    entities?: readonly string[],
  ): Steps<EntityBins[] | null> {
    const columns = keys.map((key) => this.keys.indexOf(key));
    if (columns.length === 0 || columns.includes(-1)) return null;
    const asRate = kindOf(this.metrics[columns[0]]) === 'rate';
    const all = this.chosen();
    const chosen = entities === undefined ? all : all.filter(({ name }) => entities.includes(name));
    const bins = emptyBins(chosen.length, count);
    for (const [k, { track }] of chosen.entries()) {
      track.fill(bins[k], columns, asRate, from, to);
      yield track.length + count;
    }
    return chosen.map(({ name }, k) => ({ entity: name, ...bins[k] }));
  }
}

/** What a total counted since the row before; NaN where that is not known. */
function counted(
  totals: (Counter | number | undefined)[],
  k: number,
  rule: CounterRule,
  time: number,
  value: bigint | number,
): number {
  if (typeof value === 'number') {
    const before = totals[k];
    totals[k] = value;
    return typeof before === 'number' ? risen(before, value) : Number.NaN;
  }
  const known = totals[k];
  const counter = known instanceof Counter ? known : new Counter(rule);
  totals[k] = counter;
  return counter.step(time, value);
}
