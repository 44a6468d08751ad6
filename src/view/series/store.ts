/** Samples of all schemas by table, in memory. Runs in the server, for recordings, and in the page, for live runs. */
import type { Batch, Metric, Schema } from '../../model/metric.ts';
import { atOnce, type Steps } from '../steps.ts';
import { type EntityBins, type SeriesClock, SeriesTable } from './table.ts';

/** A table that can be drawn. */
export interface TableFacts {
  /** Its name in SQL. */
  readonly name: string;
  /** What a row is about: `pe`, `host`, … */
  readonly domain: string;
  /** What a row is, in a sentence. */
  readonly help: string;
  /** Its numbers, each with its unit. */
  readonly metrics: readonly Metric[];
  /** Names of its entities. */
  readonly entities: readonly string[];
  /** Number of rows. */
  readonly rows: number;
  /** Time of the first row, seconds since the recording's zero. */
  readonly from: number;
  /** Time of the last row, seconds since the recording's zero. */
  readonly to: number;
}

/** Where the page's lines come from. */
export interface SeriesSource {
  /** Tables that can be drawn now. */
  tables(): readonly TableFacts[];
  /**
   * For each entity, the sum of metrics `keys` of a table in `bins` parts of equal length of the time from `from` up to `to`,
   * in seconds since the recording's zero. Null where there is no such table or metric.
   */
  series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
    entities?: readonly string[],
  ): EntityBins[] | null;
}

/** A run has few tables that are large: PEs, KPs, LPs, CPUs. */
const SHARES = 4;

/**
 * Samples by table, kept for drawing: the newest, up to a number of values.
 * @example
 * ```ts
 * import { openSeries } from 'triscope/live';
 *
 * const recording = await openSeries('run.tri');
 * for (const { name, rows } of recording.store.tables()) console.log(name, rows);
 * const bins = recording.store.series('ross_pe', ['events_processed'], 0, 1, 100); // 100 bins of seconds 0 to 1
 * recording.close();
 * ```
 */
export class SeriesStore implements SeriesSource {
  private readonly _tables = new Map<string, SeriesTable>();
  private readonly most: number;
  /** Seconds since the recording's zero from which on an entity's first sample counts; null where that is not known. */
  since: number | null = 0;
  /** Whether times of activities are estimates: this simulator times some events, ROSS all. */
  estimates = true;

  /** What its times count. */
  readonly clock: SeriesClock;

  /** `most`: values kept in all, about; the oldest go. */
  constructor(most = Infinity, clock: SeriesClock = 'real') {
    this.most = most / SHARES;
    this.clock = clock;
  }

  /** Whether anything can be drawn, that is, whether one table has samples of different times. */
  get moves(): boolean {
    return [...this._tables.values()].some((table) => table.moves);
  }

  /** Tells the store that samples were lost: the next ones count from an unknown time. */
  gap(): void {
    for (const table of this._tables.values()) table.gap();
  }

  /** Whether batches of a schema are of use. */
  wants(schema: Schema): boolean {
    return SeriesTable.of(schema, Infinity, this.clock) !== null;
  }

  /** A table's samples; undefined where none came. */
  table(name: string): SeriesTable | undefined {
    return this._tables.get(name);
  }

  /** Adds samples. `zero`: what to take off their times to get seconds since the recording's zero. */
  add(batch: Batch, zero = 0): void {
    const { name } = batch.schema;
    let table = this._tables.get(name);
    if (table === undefined || !sameColumns(table.schema, batch.schema)) {
      const made = SeriesTable.of(batch.schema, this.most, this.clock);
      if (made === null) return;
      table = made;
      this._tables.set(name, table);
    }
    table.add(batch, zero, this.since);
  }

  /** Tables that can be drawn, with their metrics. */
  tables(): TableFacts[] {
    return [...this._tables.values()].flatMap((table) => {
      const { schema, span } = table;
      if (span === null) return [];
      const { name, domain, help, metrics } = schema;
      return {
        name,
        domain,
        help,
        metrics: metrics.filter(({ key }) => table.keys.includes(key)),
        entities: table.entities,
        rows: table.rows,
        from: span[0],
        to: span[1],
      };
    });
  }

  readonly series = atOnce(this.seriesSteps.bind(this));

  /** As `series`, in steps between which other work may run; `bins` parts from second `from` up to `to`. */
  *seriesSteps(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
    entities?: readonly string[],
  ): Steps<EntityBins[] | null> {
    const found = this._tables.get(table);
    return found === undefined ? null : yield* found.bins(keys, from, to, bins, entities);
  }
}

const sameColumns = (a: Schema, b: Schema) =>
  a === b ||
  (a.metrics.length === b.metrics.length &&
    a.metrics.every(({ key, cell }, k) => key === b.metrics[k].key && cell === b.metrics[k].cell));
