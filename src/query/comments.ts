/** The meaning and unit of each column of each table and view, for `DESCRIBE` and DuckDB's comments. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../model/sql.ts';
import { FACT_COLUMNS } from './facts.ts';
import { runAll } from './make.ts';
import { EVERY, RUN_COLUMNS } from './runs.ts';

interface Meaning {
  readonly unit: string;
  readonly help: string;
}
/** Meanings of columns whose files do not state them: by table, by column. */
export type ColumnHelp = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Meanings = Readonly<Record<string, readonly [unit: string, help: string]>>;

/** Columns that mean the same wherever they are. */
const COMMON: Meanings = {
  t: ['s', 'since the recording’s start; of an interval, its end'],
  t0: ['s', 'beginning of the interval, since the recording’s start'],
  run: ['', 'name of the run, as in runs'],
};

const SHARE = '1';
const STATES: Meanings = Object.fromEntries(
  ['user', 'nice', 'system', 'idle', 'iowait', 'interrupts', 'steal'].map((state) => [
    state,
    [SHARE, `share of the CPU’s time: ${state}`] as const,
  ]),
);

const PE_ON_NODE: Meanings = {
  pe_id: ['', 'PE'],
  host: ['', 'host on which it ran'],
  cpu: ['', 'CPU to which it was bound; NULL: none, the CPU’s columns are the mean of the host’s'],
  seconds: ['s', 'part of the interval that the PE’s samples cover'],
  events_processed: ['{event}', 'events handled in the interval, those rolled back included'],
  events_rolled_back: ['{event}', 'events rolled back in the interval'],
  total_rollbacks: ['{rollback}', 'rollbacks in the interval'],
  events_per_s: ['{event}/s', 'events handled per second'],
  rolled_back: [SHARE, 'share of the events handled that was rolled back'],
  efficiency: ['%', 'ROSS’s efficiency of the interval'],
  ...STATES,
  running: [SHARE, 'share of the time that the PE’s thread ran'],
  waiting: [SHARE, 'share of the time that it was ready and waited for a CPU'],
  others: [SHARE, 'share of the CPU’s time that others used'],
  frequency: ['Hz', 'mean of the host’s CPUs'],
  context_switches: ['1/s', 'how often the PE’s thread was given a CPU'],
  region: ['', 'where most of the time went: events, gvt or commit'],
  in_gvt: [SHARE, 'share of the time in GVT'],
  in_commit: [SHARE, 'share of the time in which events were committed'],
};

const RANK_ON_NODE: Meanings = {
  rank: ['', 'MPI rank of the thread’s process; NULL: none'],
  host: ['', 'host'],
  process_id: ['', 'process'],
  thread_id: ['', 'thread'],
  process: ['', 'name of the process'],
  thread: ['', 'name of the thread'],
  cpu: ['', 'CPU on which it ran most'],
  seconds: ['s', 'part of the interval that the thread’s samples cover'],
  running: [SHARE, 'share of the time that it ran'],
  waiting: [SHARE, 'share of the time that it was ready and waited for a CPU'],
  in_kernel: [SHARE, 'share of the time that it ran in the kernel'],
  cpus: ['', 'number of CPUs on which it was seen'],
  moves: ['', 'changes of the CPU, as far as samples show them'],
  samples: ['', 'number of its samples'],
  blocked: ['', 'samples in which it waited for a device'],
  minor_faults: ['1/s', 'page faults without reading'],
  major_faults: ['1/s', 'page faults that read from a device'],
  ...STATES,
  others: [SHARE, 'share of the CPU’s time that others used'],
};

/** Columns of an archive's job index; its metrics have descriptions of their own. */
const JOB: Meanings = {
  id: ['', 'id of the job'],
  job: ['', 'id of the job'],
  host: ['', 'host'],
  user: ['', 'who ran it, as accounted'],
  account: ['', 'account that it was charged to'],
  queue: ['', 'queue or partition'],
  name: ['', 'name of the job'],
  state: ['', 'how it ended, as accounted'],
  submitted: ['s', 'when it was submitted, since 1970'],
  started: ['s', 'when it was started, as accounted, since 1970'],
  ended: ['s', 'when it had ended, as accounted, since 1970'],
  requested_nodes: ['', 'nodes asked for'],
  requested_cores: ['', 'cores asked for'],
  time_limit: ['s', 'time asked for'],
  first: ['s', 'its first record, since 1970'],
  last: ['s', 'its last record, since 1970'],
  seconds: ['s', 'from its first record to its last'],
  hosts: ['', 'hosts that have records of it'],
  groups: ['', 'groups of records'],
  no_begin: ['', 'hosts without the mark of its beginning'],
  no_end: ['', 'hosts without the mark of its end'],
  has_begin: ['', 'whether the host has the mark of its beginning'],
  has_end: ['', 'whether the host has the mark of its end'],
  cpus: ['', 'CPUs of all its hosts'],
  application: ['', 'program that ran longest'],
  flags: ['', 'flags that are raised, separated by commas'],
  flag: ['', 'flag that is raised'],
  doubtful: ['', 'metrics of which some input is not exact'],
  node_hours: ['h', 'hosts times hours'],
  day: ['', 'day (UTC)'],
  day_from: ['s', 'when the job, or the day, began, since 1970: the later'],
  day_to: ['s', 'when the job, or the day, ended, since 1970: the earlier'],
  day_seconds: ['s', 'part of the job on that day'],
  job_seconds: ['s', 'of all jobs of that host and day; of several at a time, of each'],
  busy_seconds: ['s', 'with any job'],
  flagged_seconds: ['s', 'of jobs with flags'],
  jobs: ['', 'number of jobs'],
  busy_cpu_hours: ['h', 'CPUs that worked times hours'],
  cpu_hours: ['h', 'CPUs times hours, of jobs whose CPUs are known'],
  efficiency: [SHARE, 'busy CPU hours by CPU hours'],
  flagged_jobs: ['', 'number of jobs with flags'],
  flagged_node_hours: ['h', 'node hours of jobs with flags'],
};
const OF_JOBS = /^jobs$|^job_(?:hosts|flags|days)$|^jobs_by_|^host_days$/;

const VIEWS: Readonly<Record<string, Meanings>> = {
  pe_on_node: PE_ON_NODE,
  rank_on_node: RANK_ON_NODE,
  gvt: { gvt: ['', 'global virtual time'], t: ['s', 'when it was first known'] },
};

const meaning = ([unit, help]: readonly [string, string]): Meaning => ({ unit, help });

/** The meaning of columns that do not come from files: facts, and views over several tables. */
function ownMeaning(table: string, column: string): Meaning | null {
  const fact = [...(FACT_COLUMNS.get(table) ?? []), ...(table === 'runs' ? RUN_COLUMNS : [])].find(
    ([name]) => name === column,
  );
  if (fact !== undefined) return { unit: fact[2] ?? '', help: fact[3] ?? '' };
  const own = OF_JOBS.test(table) ? JOB : VIEWS[table];
  const found = own?.[column] ?? COMMON[column];
  if (found !== undefined) return meaning(found);
  if (table === 'runs') {
    return { unit: '', help: `option --${column.replaceAll('_', '-')}, where it was given` };
  }
  return null;
}

/** The meaning of a counter as differences per second. */
const rateOf = ({ unit, help }: Meaning): Meaning => ({
  unit: `${unit === '' ? '1' : unit}/s`,
  help: `${help}, per second`,
});

/** What a column of a schema is. */
interface Column extends Meaning {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** Whether its schema's `metrics` has it. */
  readonly isListed: boolean;
}

/** The schemas that have `metrics`: a job index alone has none. */
const WITH_METRICS =
  "SELECT table_schema FROM information_schema.tables WHERE table_name = 'metrics' AND table_catalog = 'memory'";

/** The columns of all tables and views of some schemas, and of `every` where it is there, whose meaning is known. */
async function columnsOf(
  connection: DuckDBConnection,
  schemas: readonly string[],
): Promise<Column[]> {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS();
  const measured = new Map<string, Meaning>();
  const withMetrics = await rows(WITH_METRICS);
  for (const schema of schemas) {
    if (!withMetrics.some(([own]) => own === schema)) continue;
    const metrics = await rows(
      `SELECT table_name, column_name, unit, help FROM ${quoteName(schema)}.metrics`,
    );
    for (const [table, column, unit, help] of metrics.map((row) => row.map(String))) {
      measured.set(`${schema}.${table}.${column}`, { unit, help });
    }
  }
  const ofJobs = new Map(
    (
      await rows(
        "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = '_measured' AND comment IS NOT NULL",
      )
    ).map(([column, help]) => [String(column), { unit: '', help: String(help) }]),
  );
  const meaningOf = (schema: string, table: string, column: string, type: string) => {
    // Tables of `every` and short names are those of a recording.
    for (const own of [schema, ...schemas]) {
      const found = measured.get(`${own}.${table}.${column}`);
      if (found !== undefined) return found;
      const base = measured.get(`${own}.${table.replace(/_rate$/, '')}.${column}`);
      if (base !== undefined) return type === 'DOUBLE' ? rateOf(base) : base;
      if (own === schema && ownMeaning(table, column) !== null) break;
    }
    return ownMeaning(table, column) ?? (OF_JOBS.test(table) ? (ofJobs.get(column) ?? null) : null);
  };
  const all = await rows(
    `SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
      WHERE table_catalog = 'memory' ORDER BY ALL`,
  );
  const known = new Set(['main', EVERY, ...schemas]);
  return all.flatMap((row) => {
    const [schema, table, column, type] = row.map(String);
    const found = known.has(schema) ? meaningOf(schema, table, column, type) : null;
    if (found === null) return [];
    const isListed = measured.has(`${schema}.${table}.${column}`);
    return [{ schema, table, column, type, isListed, ...found }];
  });
}

/** Comments the columns of all tables and views: see `columnsOf`. */
export async function commentColumns(
  connection: DuckDBConnection,
  schemas: readonly string[],
): Promise<void> {
  const columns = await columnsOf(connection, schemas);
  await runAll(
    connection,
    columns.map(({ schema, table, column, unit, help }) => {
      const name = [schema, table, column].map(quoteName).join('.');
      return `COMMENT ON COLUMN ${name} IS ${quoteText(unit === '' ? help : `${unit}: ${help}`)}`;
    }),
  );
}

/**
 * Completes `metrics` of each schema that has it: columns of files get the meaning that is known of them where their files do
 * not say it, and columns of views come to it with their type, unit and meaning.
 */
export async function completeMetrics(
  connection: DuckDBConnection,
  schemas: readonly string[],
  columnHelp: ColumnHelp,
): Promise<void> {
  const explained = Object.entries(columnHelp).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, help]) => [table, column, help]),
  );
  const found = (await connection.runAndReadAll(WITH_METRICS)).getRowsJS().map(([own]) => own);
  const own = schemas.filter((schema) => found.includes(schema));
  const metricsOf = (schema: string) => `${quoteName(schema)}.metrics`;
  if (explained.length > 0) {
    await runAll(
      connection,
      own.map(
        (schema) => `UPDATE ${metricsOf(schema)} m SET help = v.help
          FROM (VALUES ${valuesOf(explained)}) v(t, c, help)
          WHERE m.table_name = v.t AND m.column_name = v.c AND m.help = ''`,
      ),
    );
  }
  const others = (await columnsOf(connection, schemas)).filter(({ isListed }) => !isListed);
  await runAll(
    connection,
    own.flatMap((one) => {
      const rows = others
        .filter(({ schema }) => schema === one)
        .map(({ table, column, type, unit, help }) => [table, column, type, unit, help]);
      const into = `${metricsOf(one)} (table_name, column_name, type, unit, help)`;
      return rows.length === 0 ? [] : [`INSERT INTO ${into} VALUES ${valuesOf(rows)}`];
    }),
  );
}

const valuesOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `(${row.map(quoteText).join(', ')})`).join(', ');

const NAME = String.raw`(?:"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)`;
const DESCRIBE = new RegExp(
  String.raw`^\s*(?:DESCRIBE|DESC)\s+(?!SELECT\b|FROM\b|WITH\b|VALUES\b)(?:(${NAME})\s*\.\s*)?(${NAME})\s*;?\s*$`,
  'iu',
);
const plain = (name: string) => name.replace(/^"(.*)"$/su, '$1').replaceAll('""', '"');

/** `DESCRIBE table` with the columns' comments; null where a statement is none. */
export function described(sql: string): string | null {
  const [, schema = 'main', table] = DESCRIBE.exec(sql) ?? [];
  if (table === undefined) return null;
  const [inSchema, named] = [schema, table].map((name) => quoteText(plain(name).toLowerCase()));
  const from = schema === 'main' ? table : `${schema}.${table}`;
  return `SELECT d.column_name, d.column_type, coalesce(c.comment, '') AS comment
    FROM (SELECT *, row_number() OVER () AS place FROM (DESCRIBE ${from})) d
    LEFT JOIN (SELECT column_name, any_value(comment) AS comment FROM duckdb_columns()
      WHERE lower(schema_name) = ${inSchema} AND lower(table_name) = ${named} GROUP BY 1) c USING (column_name)
    ORDER BY place`;
}

/** Whether a statement looks at columns' comments. */
export const asksForComments = (sql: string): boolean => /duckdb_columns|column_comment/i.test(sql);

/** Whether a statement asks what columns mean. */
export const asksForMeanings = (sql: string): boolean =>
  asksForComments(described(sql) ?? sql) || /\bmetrics\b/i.test(sql);
