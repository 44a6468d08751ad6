/**
 * Declarations of metrics: one per metric determines file headers, SQL columns, OpenMetrics types, labels on
 * screen and the docs. No I/O, no dependencies.
 */

/** How a value is stored. `label` is a text from a small set. */
export type Cell = 'u32' | 'i32' | 'u64' | 'f32' | 'f64' | 'label';

export interface Metric {
  /** Snake case; unique in its schema; the SQL column's name. */
  readonly key: string;
  readonly cell: Cell;
  /** `event` counts things that happen, `gauge` is a state, `control` a setting (tacc_stats' E and C). */
  readonly kind: 'event' | 'gauge' | 'control';
  /** How it changes with time (GEOPM's signal behaviours). */
  readonly behaviour: 'constant' | 'monotone' | 'variable' | 'label';
  /** `change`: since the entity's last sample, as in ROSS; `total`: since the counter's start. */
  readonly form: 'total' | 'change';
  /** Width of the counter where it rolls over: 32, 48, 64. */
  readonly bits?: number;
  /** UCUM-like: `s`, `B`, `J`, `Hz`, `%`, `{event}`; '' for a bare number. */
  readonly unit: string;
  /** How values of several entities, or of several samples, become one. `ratio`: recomputed from its parts. */
  readonly over: 'sum' | 'mean' | 'min' | 'max' | 'last' | 'same' | 'ratio';
  /** Sampled and scaled up, not counted. */
  readonly estimate?: true;
  /** One sentence. */
  readonly help: string;
}

/** A column of texts that name something. */
export const label = (key: string, help: string): Metric => ({
  key,
  cell: 'label',
  kind: 'gauge',
  behaviour: 'label',
  form: 'total',
  unit: '',
  over: 'same',
  help,
});

/** The kinds of entities. */
export const DOMAINS = [
  'recording',
  'host',
  'board',
  'package',
  'core',
  'cpu',
  'memory',
  'nic',
  'gpu',
  'gpu_chip',
  'device',
  'process',
  'pe',
  'kp',
  'lp',
  'region',
] as const;

export type Domain = (typeof DOMAINS)[number];

/** The columns of one kind of sample. The schema's name is the SQL table's name. */
export interface Schema {
  readonly name: string;
  /** The kind of entity that each row is about. */
  readonly domain: Domain;
  readonly help: string;
  readonly metrics: readonly Metric[];
}

/** An entity: something that is measured. */
export interface Entity {
  /** Unique in its domain and recording. */
  readonly id: number;
  readonly domain: Domain;
  readonly name: string;
  /** Id of the entity of which it is a part, in `parentDomain`. */
  readonly parent?: number;
  readonly parentDomain?: Domain;
}

/** A column's values: the array type of its cell; of a label column, numbers of labels. */
export type RawColumn = Uint32Array | Int32Array | BigUint64Array | Float32Array | Float64Array;

/** The same with labels as texts. */
export type Column = RawColumn | readonly string[];

/** Rows, column by column: so they travel from files and samplers to whoever counts or draws them. */
export interface Columns<C> {
  /** Number of rows. */
  readonly rows: number;
  readonly columns: C;
}

/** Rows of one schema. `columns[k]` belongs to `schema.metrics[k]`. */
export interface Batch extends Columns<readonly Column[]> {
  readonly schema: Schema;
}

/** Bytes of one value; 4 for a label, which is kept as a number in binary forms. */
export const CELL_BYTES: Readonly<Record<Cell, number>> = {
  u32: 4,
  i32: 4,
  u64: 8,
  f32: 4,
  f64: 8,
  label: 4,
};
