/** The tables and columns, and the statements that correspond to the page's own pictures. Pure. */
import {
  EFFICIENCY,
  inputsOf,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
  sqlOf,
} from '../../../src/model/measures/index.ts';
import { quoteName } from '../../../src/model/sql.ts';
import type { QueryAnswer } from '../../../src/view/facts/query.ts';

export interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  /** '' if it has none, or it is unknown. */
  readonly unit: string;
  readonly help: string;
}

export interface NamedColumns {
  readonly name: string;
  readonly columns: readonly ColumnFacts[];
}

/** Columns of all tables, in order, with units and help if these are declared. */
export const SCHEMA = `SELECT c.table_name, c.column_name, c.data_type, coalesce(m.unit, ''), coalesce(m.help, '')
FROM information_schema.columns c
LEFT JOIN metrics m ON m.table_name = c.table_name AND m.column_name = c.column_name
WHERE c.table_schema = 'main' ORDER BY c.table_name, c.ordinal_position`;

/** The answer to `SCHEMA`, by table. */
export function tablesOf({ rows }: QueryAnswer): NamedColumns[] {
  const found = new Map<string, ColumnFacts[]>();
  for (const row of rows) {
    const [table, name, type, unit, help] = row.map(String);
    found.set(table, [...(found.get(table) ?? []), { name, type, unit, help }]);
  }
  return [...found].map(([name, columns]) => ({ name, columns }));
}

/** A name in a statement. */
export const quoted = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteName(name);

/** A statement that shows rows of a table. */
export const lookAt = ({ name, columns }: NamedColumns): string =>
  `SELECT ${columns.map((column) => quoted(column.name)).join(', ')}\nFROM ${quoted(name)}\nLIMIT 100`;

const seconds = (value: number): string => String(Number(value.toPrecision(9)));
const within = (from: number, to: number): string =>
  `WHERE t >= ${seconds(from)} AND t < ${seconds(to)}`;

const ENTITIES = { pe: 'pe_id', kp: 'pe_id, kp_id', lp: 'pe_id, kp_id, lp_id' } as const;

/** What a heatmap of a table of the simulation shows, sample by sample. */
export function heatSql(
  level: keyof typeof ENTITIES,
  metric: string,
  from: number,
  to: number,
): string {
  const ratio = RATIOS.find(({ key }) => key === metric);
  const column =
    ratio === undefined
      ? quoted(metric)
      : `${inputsOf(ratio).join(', ')},\n  ${sqlOf(ratio, { metric: quoted })} AS ${metric}`;
  return `SELECT t, ${ENTITIES[level]}, ${column}\nFROM ross_${level}\n${within(from, to)}\nORDER BY t`;
}
const RATIOS = [ROLLED_BACK_SHARE, EFFICIENCY, SECONDARY_SHARE];

/** What a chart of the overview shows, sample by sample; null if there is no single statement for it. */
export function chartSql(id: string, from: number, to: number): string | null {
  switch (id) {
    case 'events':
      return heatSql('pe', 'events_processed', from, to);
    case 'undone':
      return heatSql('pe', 'rolled_back_share', from, to);
    case 'waits':
      return `SELECT t, pe_id, run_queue_wait\nFROM sim_thread\n${within(from, to)}\nORDER BY t`;
    case 'threads':
    case 'thread-waits':
    case 'thread-blocks':
    case 'thread-cpus':
      return `SELECT t, rank, process, thread, cpu, running, waiting, blocked, samples, others\nFROM rank_on_node\n${within(from, to)}\nORDER BY t`;
    case 'memory':
      return `SELECT t, host, sum("MemUsed") AS used\nFROM node_mem\n${within(from, to)}\nGROUP BY ALL ORDER BY t`;
    default:
      return null;
  }
}
