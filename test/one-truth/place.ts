/** A recording as the outlets of one server have it, and the names under which they tell of it. */
import { json, query } from '../live/support/ask.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A region on its host. */
export const placed = (region: unknown, host: unknown) => `${region} on ${host}`;

export const number = (value: unknown) =>
  value === null || value === undefined ? null : Number(value);

/** Activities: key, columns of `ross_pe`, name on the page. */
export const ACTIVITIES = [
  ['handlers', ['events_processed_time'], 'event handlers'],
  ['queue', ['priority_queue_time'], 'event queue'],
  ['rollback', ['rollback_time', 'cancel_q_time', 'events_aborted_time'], 'rolling back'],
  ['gvt', ['gvt_time'], 'GVT'],
  ['fossil', ['fossil_collect_time'], 'fossil collection'],
  ['read', ['network_read_time'], 'network read'],
  ['other', ['network_other_time'], 'network other'],
] as const;

export const CPU_SHARES = ['user %', 'system %', 'stolen %', 'idle %'];

/** Where a recording is: its path, and its id in the server's list. */
export interface Place {
  readonly path: string;
  readonly port: number;
  readonly id: string;
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>;
}

export const has = ({ tables }: Place, table: string, ...columns: string[]) =>
  columns.every((column) => tables.get(table)?.has(column) === true);

/** The table of the simulator that tells of events, as docs/query.md says it. */
export const counting = (place: Place) =>
  ['ross_pe', 'ross_lp', 'ross_kp'].find((table) =>
    has(place, table, 'events_processed', 'events_rolled_back', 'mode'),
  );

export async function rows(place: Place, sql: string): Promise<Row[]> {
  const answer = await query(place.port, { sql }, `?recording=${encodeURIComponent(place.id)}`);
  if (answer.status !== 200) throw new Error(`${sql}: ${JSON.stringify(answer)}`);
  const { columns, rows: found } = answer as { columns: { name: string }[]; rows: unknown[][] };
  return found.map((row) => Object.fromEntries(columns.map(({ name }, k) => [name, row[k]])));
}

export async function placeOf(path: string, port: number, id: string): Promise<Place> {
  const tables = new Map<string, Set<string>>();
  const empty = { path, port, id, tables };
  const sql = `SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = 'main'`;
  for (const { t, c } of await rows(empty, sql)) {
    const columns = tables.get(String(t)) ?? new Set();
    tables.set(String(t), columns.add(String(c)));
  }
  return empty;
}

/** One way of sampling, by the documented rule: not virtual time, then the most samples, then the name. */
export const oneMode = (table: string) =>
  `mode = (SELECT mode FROM (SELECT mode, count(*) AS n FROM ${table} WHERE mode IS NOT NULL GROUP BY mode)
   ORDER BY mode = 'vt', n DESC, mode LIMIT 1)`;

export type Say = (measure: string, entity: string, value: unknown) => void;

export interface Told {
  readonly rule: string;
  readonly severity: string;
  readonly sentence: string;
  readonly advice: string;
  readonly turn?: Readonly<Record<string, number | null>>;
}

export const findingsOf = ({ port, id }: Place): Promise<Told[]> =>
  json<Told[]>(port, `/api/findings?recording=${encodeURIComponent(id)}`);
