/** `triscope node jobs`: the jobs of an archive, searched by user, time, metric and flag. */
import {
  type AccountedJob,
  isoTime,
  JOB_FLAGS,
  type JobRow,
  type JobToRead,
  type ListedJob,
  listJobs,
  METRIC_COLUMNS,
  measuredRows,
  rowOf,
  shortName,
} from '../../findings/job/index.ts';
import { didYouMean } from '../../model/nearest.ts';
import { flag, text } from '../../model/option.ts';
import { ARCHIVE_OPTIONS, type ArchiveCall, readArchiveCall } from '../archive-options.ts';
import { type Call, command, type Given } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Output } from '../output.ts';
import { figure, painter, table } from '../table.ts';

const OPTIONS = {
  ...ARCHIVE_OPTIONS,
  user: text('', 'only this user’s (needs --accounting)', { placeholder: 'NAME' }),
  queue: text('', 'only of this queue (needs --accounting)', { placeholder: 'NAME' }),
  flag: text(
    '',
    'only jobs for which this flag is up; several separated by commas: for which all are',
    { placeholder: 'F' },
  ),
  where: text(
    '',
    'only jobs for which this SQL condition is true, such as "avg_cpi > 1.5 AND hosts > 4"; columns: those of --json, and all metrics by name',
    { placeholder: 'CONDITION' },
  ),
  sort: text('first', 'by a column; COLUMN:desc from high to low', { placeholder: 'COLUMN' }),
  columns: text('', 'metrics that the table shows', { placeholder: 'LIST' }),
  'no-metrics': flag(false, 'only what the record groups’ lines tell: reads each file once'),
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
  throw new UsageError(`--${option} ${name}: there is none of this name${didYouMean(name, names)}`);
}

/** @throws UsageError */
function searchOf(given: JobsOptions, { accounted }: ArchiveCall): Search {
  const metrics = given['no-metrics'] !== true;
  for (const name of ['user', 'queue'] as const) {
    if (given[name] !== undefined && accounted === null) {
      throw new UsageError(`--${name} needs --accounting FILE: record groups do not tell it`);
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

/** The accounted job of a listed one: same id, and times that meet. */
function accountedFor(jobs: readonly AccountedJob[], { id, first, last }: ListedJob) {
  const slack = 1200;
  return (
    jobs.findLast(
      (job) =>
        job.id === id &&
        (job.started ?? Number.NEGATIVE_INFINITY) <= last + slack &&
        (job.ended ?? Number.POSITIVE_INFINITY) >= first - slack,
    ) ?? null
  );
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
    // What is missing comes last, either way.
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x < y ? -sign : x > y ? sign : 0;
  });
}

async function rowsOf(call: ArchiveCall, search: Search): Promise<JobRow[]> {
  const { archive, accounted, foreign, hosts } = call;
  const from = call.from ?? Number.NEGATIVE_INFINITY;
  const to = call.to ?? Number.POSITIVE_INFINITY;
  const list = await listJobs(archive, { from, to, foreign });
  for (const { what } of list.problems) process.stderr.write(`triscope: ${what}\n`);
  const wanted = hosts === null ? null : new Set(hosts.map(shortName));
  const jobs: JobToRead[] = [];
  for (const listed of list.jobs) {
    if (wanted !== null && ![...listed.hosts.keys()].some((host) => wanted.has(shortName(host)))) {
      continue;
    }
    const own = accounted === null ? null : accountedFor(accounted, listed);
    if (search.user !== undefined && own?.user !== search.user) continue;
    if (search.queue !== undefined && own?.queue !== search.queue) continue;
    jobs.push({ listed, accounted: own });
  }
  if (!search.metrics) return jobs.map(({ listed, accounted }) => rowOf(listed, accounted));
  const rows = await measuredRows(jobs, { foreign });
  return rows.filter((row) => search.flags.every((flag) => row.flags?.includes(flag)));
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
  const rows = sorted(await chosen(await rowsOf(call, search), search), search.sort);
  const out = new Output();
  if (call.json) out.write(`${JSON.stringify({ jobs: rows }, null, 2)}\n`);
  else if (rows.length === 0) out.write('no job of the archive is like that\n');
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
