/** A table: parts under one name, with the columns of all. */
import type { Cell, Metric } from '../model/metric.ts';
import { plainName } from '../model/schema-check.ts';
import type { PlacedPart, Suspect } from './part.ts';

export interface KnownColumn {
  /** Unique in the table, whatever the case. */
  readonly name: string;
  readonly metric: Metric;
  /** All labels of all parts; the value n > 0 means `labels[n - 1]`, 0 is missing. Null for numbers. */
  readonly labels: readonly string[] | null;
}

/** How a part fills a table's columns. */
export interface TablePiece extends PlacedPart {
  /** By column of the table: the part's column; -1: it has none, so all its values are missing. */
  readonly from: readonly number[];
  /** By column of the table: the table's value for the part's label. */
  readonly codes: readonly (Uint32Array | null)[];
}

export interface Table {
  readonly name: string;
  readonly help: string;
  readonly rows: number;
  /** Whether there is a column `t`, before all others: seconds since the recording's start. */
  readonly timed: boolean;
  readonly columns: readonly KnownColumn[];
  readonly pieces: readonly TablePiece[];
  /** Where pieces must be read one after the other, from the first on: those of one such reading. */
  readonly begin?: () => readonly TablePiece[];
}

/** A time column that holds seconds since 1970, as in files of tacc_stats; others count from their source's zero. */
export const WALL_TIME = 'time';

class Columns {
  readonly list: { name: string; metric: Metric; labels: string[] | null }[] = [];
  private readonly byKey = new Map<string, number>();
  /** Names in lower case: SQL ignores case. */
  private readonly names = new Set(['t', 't0', 'before t']);

  /** The number of the column for `metric`; -1 where one of its key has other cells. */
  add(metric: Metric): number {
    const known = this.byKey.get(metric.key);
    if (known !== undefined) return this.list[known].metric.cell === metric.cell ? known : -1;
    const plain = plainName(metric.key);
    let name = plain;
    for (let k = 2; this.names.has(name.toLowerCase()); k++) name = `${plain}_${k}`;
    this.names.add(name.toLowerCase());
    const at = this.list.push({ name, metric, labels: metric.cell === 'label' ? [] : null }) - 1;
    this.byKey.set(metric.key, at);
    return at;
  }
}

/** Joins parts of one name. A part's column whose cells differ from the first's is left out, and reported. */
export function tableOf(name: string, parts: readonly PlacedPart[], suspects: Suspect[]): Table {
  const columns = new Columns();
  const places = parts.map(({ part, time, file }) =>
    part.schema.metrics.map((metric, k) => {
      if (k === time && metric.key === 't') return -1;
      const at = columns.add(metric);
      if (at < 0) {
        const what = `table ${name}: column ${metric.key} holds ${metric.cell} values, unlike before: left out`;
        suspects.push({ file, what });
      }
      return at;
    }),
  );
  const codes = columns.list.map(() => new Map<string, number>());
  const pieces = parts.map((placed, p): TablePiece => {
    const from = columns.list.map((_, at) => places[p].indexOf(at));
    return {
      ...placed,
      from,
      codes: from.map((column, at) => {
        const labels = placed.part.labels[column] ?? null;
        const all = columns.list[at].labels;
        return labels && all && codesOf(labels, all, codes[at]);
      }),
    };
  });
  return {
    name,
    help: parts[0].part.schema.help,
    rows: parts.reduce((sum, { part }) => sum + part.rows, 0),
    timed: parts.some(({ time }) => time !== null),
    columns: columns.list,
    pieces,
  };
}

/** The table's values for a part's labels; new labels are added to `all`. */
function codesOf(
  labels: readonly string[],
  all: string[],
  known: Map<string, number>,
): Uint32Array {
  // Array.from visits holes too: labels that a damaged file has lost.
  return Uint32Array.from(Array.from(labels), (label: string | undefined) => {
    if (label === undefined || label === '') return 0;
    let code = known.get(label);
    if (code === undefined) {
      code = all.push(label);
      known.set(label, code);
    }
    return code;
  });
}

/** SQL types of cells. */
export const SQL_TYPES: Readonly<Record<Cell, string>> = {
  u32: 'UINTEGER',
  i32: 'INTEGER',
  u64: 'UBIGINT',
  f32: 'FLOAT',
  f64: 'DOUBLE',
  label: 'VARCHAR',
};
