/** `triscope node jobs`: the jobs of an archive, searched by user, time, metric and flag. */
import {
  accountedById,
  accountedFor,
  isoTime,
  JOB_FLAGS,
  type JobRow,
  type JobToRead,
  type KeptJobs,
  listJobs,
  METRIC_COLUMNS,
  measuredRows,
  openJobs,
  rowOf,
  shortName,
} from '../../findings/job/index.ts';
import { shareText } from '../../model/measures/index.ts';
import { didYouMean } from '../../model/nearest.ts';
import { choice, flag, text } from '../../model/option.ts';
import { JOB_GROUPS, type JobGroup } from '../../query/job-tables.ts';
import { ARCHIVE_OPTIONS, type ArchiveCall, readArchiveCall } from '../archive-options.ts';
import { type Call, command, type Given } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Output } from '../output.ts';
import { figure, painter, table } from '../table.ts';

const OPTIONS = {
  ...ARCHIVE_OPTIONS,
  user: text('', 'only jobs of this user (needs --accounting)', { placeholder: 'NAME' }),
  queue: text('', 'only jobs in this queue (needs --accounting)', { placeholder: 'NAME' }),
  flag: text(
    '',
    'only jobs for which this flag is raised; of several, separated by commas, all must be',
    { placeholder: 'F' },
  ),
  where: text(
    '',
    'only jobs for which this SQL condition is true, such as "avg_cpi > 1.5 AND hosts > 4"; columns: those of --json, and all metrics by name',
    { placeholder: 'CONDITION' },
  ),
  sort: text('first', 'sort by this column; COLUMN:desc from high to low', {
    placeholder: 'COLUMN',
  }),
  columns: text('', 'metrics that the table shows', { placeholder: 'LIST' }),
  by: choice(
    JOB_GROUPS,
    '',
    'instead of jobs their sums: node hours, CPU efficiency, flags (needs `node index`)',
  ),
  'no-metrics': flag(false, 'only what the lines of record groups say; reads each file once'),
};
type JobsOptions = Given<typeof OPTIONS>;

const SHOWN = ['avg_cpuusage', 'avg_cpi', 'avg_flops_64b', 'mem_hwm', 'avg_mbw', 'avg_fabricbw'];
/** Columns of a row besides metrics, with their SQL types. */
const FACTS = {
  id: 'VARCHAR',
  user: 'VARCHAR',
  account: 'VARCHAR',
  queue: 'VARCHAR',
  name: 'VARCHAR',
  state: 'VARCHAR',
  first: 'DOUBLE',
  last: 'DOUBLE',
  seconds: 'DOUBLE',
  hosts: 'BIGINT',
  groups: 'BIGINT',
  no_begin: 'BIGINT',
  no_end: 'BIGINT',
} as const;
type Fact = keyof typeof FACTS;
const FACT_NAMES = Object.keys(FACTS) as Fact[];

interface Search {
  readonly user: string | undefined;
  readonly queue: string | undefined;
  readonly flags: readonly string[];
  readonly where: string | undefined;
  readonly sort: { readonly column: string; readonly down: boolean };
  readonly columns: readonly string[];
  readonly metrics: boolean;
}

function known(option: string, name: string, names: readonly string[]): string {
  if (names.includes(name)) return name;
  throw new UsageError(`--${option} ${name}: there is no such name${didYouMean(name, names)}`);
}

/** @throws UsageError */
function searchOf(given: JobsOptions, { accounted }: ArchiveCall): Search {
  const metrics = given['no-metrics'] !== true;
  for (const name of ['user', 'queue'] as const) {
    if (given[name] !== undefined && accounted === null) {
      throw new UsageError(`--${name} needs --accounting FILE: record groups do not contain it`);
    }
  }
  const names = JOB_FLAGS.map(({ name }) => name);
  const flags = (given.flag ?? '').split(',').filter(Boolean);
  for (const flag of flags) known('flag', flag, names);
  if (!metrics && flags.length > 0)
    throw new UsageError('--flag and --no-metrics exclude each other');
  const sort = given.sort ?? OPTIONS.sort.default;
  const down = sort.endsWith(':desc');
  const all = [...FACT_NAMES, ...METRIC_COLUMNS];
  const columns = given.columns?.split(',').filter(Boolean) ?? SHOWN;
  return {
    ...{ flags, metrics },
    ...{ user: given.user, queue: given.queue, where: given.where },
    sort: { column: known('sort', down ? sort.slice(0, -':desc'.length) : sort, all), down },
    columns: columns.map((name) => known('columns', name, METRIC_COLUMNS)),
  };
}

const factOf = (row: JobRow, name: string) =>
  FACT_NAMES.includes(name as Fact) ? row[name as Fact] : (row.metrics[name] ?? null);

async function chosen(
  rows: readonly JobRow[],
  { where, metrics }: Search,
): Promise<readonly JobRow[]> {
  if (where === undefined) return rows;
  const { filterRows } = await import('../../query/filter.ts');
  const names = metrics ? METRIC_COLUMNS : [];
  const columns = [
    ...FACT_NAMES.map((name) => ({ name, type: FACTS[name] })),
    { name: 'flags', type: 'VARCHAR' as const },
    { name: 'doubtful', type: 'VARCHAR' as const },
    ...names.map((name) => ({ name, type: 'DOUBLE' as const })),
  ];
  const cells = rows.map((row) => [
    ...FACT_NAMES.map((name) => row[name]),
    (row.flags ?? []).join(','),
    (row.doubtful ?? []).join(','),
    ...names.map((name) => row.metrics[name] ?? null),
  ]);
  return (await filterRows('jobs', columns, cells, where)).map((k) => rows[k]);
}

function sorted(rows: readonly JobRow[], { column, down }: Search['sort']): readonly JobRow[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [factOf(a, column), factOf(b, column)];
    // Jobs without a value come last in both directions.
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x < y ? -sign : x > y ? sign : 0;
  });
}

async function rowsOf(call: ArchiveCall, search: Search): Promise<readonly JobRow[]> {
  const { archive, accounted, foreign, hosts } = call;
  const { user, queue, where } = search;
  if (search.metrics && !foreign && call.from === undefined && call.to === undefined) {
    const rows = await asked(call, (jobs) => jobs.rows({ user, queue, where, hosts }));
    if (rows !== null) return rows.filter((row) => hasFlags(row, search));
  }
  const from = call.from ?? Number.NEGATIVE_INFINITY;
  const to = call.to ?? Number.POSITIVE_INFINITY;
  const list = await listJobs(archive, { from, to, foreign });
  for (const { what } of list.problems) process.stderr.write(`triscope: ${what}\n`);
  const wanted = hosts === null ? null : new Set(hosts.map(shortName));
  const byId = accounted === null ? null : accountedById(accounted);
  const jobs: JobToRead[] = [];
  for (const listed of list.jobs) {
    if (wanted !== null && ![...listed.hosts.keys()].some((host) => wanted.has(shortName(host)))) {
      continue;
    }
    const own = byId === null ? null : accountedFor(byId, listed);
    if (user !== undefined && own?.user !== user) continue;
    if (queue !== undefined && own?.queue !== queue) continue;
    jobs.push({ listed, accounted: own });
  }
  if (!search.metrics) {
    return chosen(
      jobs.map(({ listed, accounted }) => rowOf(listed, accounted)),
      search,
    );
  }
  const rows = await measuredRows(jobs, { foreign });
  return chosen(
    rows.filter((row) => hasFlags(row, search)),
    search,
  );
}

const hasFlags = (row: JobRow, { flags }: Search) =>
  flags.every((flag) => row.flags?.includes(flag));

/** The answer of the archive's index; null where it has no index. */
async function asked<T>(
  { archive, accounted }: ArchiveCall,
  question: (jobs: KeptJobs) => Promise<T>,
): Promise<T | null> {
  const { jobs, note } = await openJobs(archive, accounted);
  if (note !== null) process.stderr.write(`triscope: ${note}\n`);
  if (jobs === null) return null;
  try {
    for (const { what } of await jobs.problems()) process.stderr.write(`triscope: ${what}\n`);
    return await question(jobs);
  } finally {
    jobs.close();
  }
}

/** Prints sums of jobs. Returns the exit code. @throws UsageError */
async function sums(call: ArchiveCall, by: JobGroup): Promise<number> {
  const rows = await asked(call, (jobs) => jobs.by(by));
  if (rows === null) {
    throw new UsageError(
      `--by ${by} needs the archive’s index: make one with node index --archive ${call.archive.path}`,
    );
  }
  const header = [by, 'jobs', 'node hours', 'CPU efficiency', 'flagged jobs', 'flagged node hours'];
  const lines = rows.map((row) => [
    row.group === '' ? '-' : row.group,
    String(row.jobs),
    row.nodeHours.toFixed(2),
    shareText(row.efficiency),
    String(row.flaggedJobs),
    row.flaggedNodeHours.toFixed(2),
  ]);
  const out = new Output();
  if (call.json) out.write(`${JSON.stringify({ by, groups: rows }, null, 2)}\n`);
  else out.write(`${table(header, lines).join('\n')}\n`);
  out.flush();
  return 0;
}

const timeText = (seconds: number) => isoTime(seconds).slice(0, 16).replace('T', ' ');
const hours = (seconds: number) => (seconds / 3600).toFixed(2);

function textOf(rows: readonly JobRow[], { columns, metrics }: Search): string[] {
  const shown = metrics ? columns : [];
  const header = ['job', 'user', 'queue', 'state', 'first (UTC)', 'hours', 'hosts', 'lacking'];
  return table(
    [...header, ...shown, ...(metrics ? ['flags'] : [])],
    rows.map((row) => [
      row.id,
      row.user,
      row.queue,
      row.state,
      timeText(row.first),
      hours(row.seconds),
      String(row.hosts),
      lackingOf(row),
      ...shown.map((name) => {
        const value = row.metrics[name] ?? null;
        return value === null ? '-' : `${figure(value)}${row.doubtful?.includes(name) ? '?' : ''}`;
      }),
      ...(metrics ? [String(row.flags?.length ?? 0)] : []),
    ]),
  );
}

/** Marks that some of a job's hosts lack. */
function lackingOf({ no_begin, no_end }: JobRow): string {
  const parts = [
    ...(no_begin > 0 ? [`${no_begin} begin`] : []),
    ...(no_end > 0 ? [`${no_end} end`] : []),
  ];
  return parts.join(', ');
}

/** Lists the jobs. Returns the exit code. @throws UsageError, JobError, QueryError */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const call = readArchiveCall(given);
  const search = searchOf(given, call);
  if (given.by !== undefined) return sums(call, given.by);
  const rows = sorted(await rowsOf(call, search), search.sort);
  const out = new Output();
  if (call.json) out.write(`${JSON.stringify({ jobs: rows }, null, 2)}\n`);
  else if (rows.length === 0) out.write('no job of the archive matches\n');
  else out.write(`${textOf(rows, search).join('\n')}\n`);
  out.flush();
  const paint = painter(process.stderr);
  for (const { path, why } of call.archive.skipped) {
    process.stderr.write(paint.dim(`triscope: ${path}: not read: ${why}\n`));
  }
  return 0;
}

export const nodeJobs = command({
  about:
    'Lists the jobs of an archive of raw stats files, with metrics and flags.\n\nFormulas and flags: docs/node/jobs.md.',
  options: OPTIONS,
  examples: ['node jobs --archive /scratch/stats --sort avg_cpi:desc'],
  run,
});
