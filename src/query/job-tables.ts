/**
 * The tables of an archive's job index (`ARCHIVE/.jobs.duckdb`), and the views that SQL, commands and the page see of them.
 * Ratios are from sums, never means of ratios.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SKEW_SECONDS } from '../model/clock-skew.ts';
import { DAY_SECONDS } from '../model/units.ts';
import type { FilterColumn } from './filter-rows.ts';
import type { KeptTable } from './kept-file.ts';

/** Name of the file in its archive. */
export const JOB_INDEX = '.jobs.duckdb';

/** The job index of an archive, or the path itself where it is one; null where there is none. */
export function jobIndexAt(path: string): string | null {
  if (basename(path) === JOB_INDEX) return path;
  const own = join(path, JOB_INDEX);
  return existsSync(own) ? own : null;
}

const text = (...names: readonly string[]): FilterColumn[] =>
  names.map((name) => ({ name, type: 'VARCHAR' }));
const number = (...names: readonly string[]): FilterColumn[] =>
  names.map((name) => ({ name, type: 'DOUBLE' }));
const count = (...names: readonly string[]): FilterColumn[] =>
  names.map((name) => ({ name, type: 'BIGINT' }));

export const META: KeptTable = { name: '_meta', columns: text('key', 'value') };

/**
 * Files that were read, as they were then. `path` is in the archive; `mtime` in ns since 1970; `gone`: it was removed, and
 * its jobs are kept.
 */
export const FILES: KeptTable = {
  name: '_files',
  columns: [
    ...count('id'),
    ...text('path', 'host'),
    ...count('size', 'mtime', 'inode'),
    ...text('problem'),
    { name: 'gone', type: 'BOOLEAN' },
  ],
};

/** What each file has of each job. `lines`: record groups whose line names it; `groups`: or a mark. */
export const FILE_JOBS: KeptTable = {
  name: '_file_jobs',
  columns: [
    ...count('file'),
    ...text('job'),
    ...number('first', 'last'),
    ...count('lines', 'groups'),
    { name: 'has_begin', type: 'BOOLEAN' },
    { name: 'has_end', type: 'BOOLEAN' },
  ],
};

export const ACCOUNTING: KeptTable = {
  name: '_accounting',
  columns: [
    ...text('id', 'user', 'account', 'queue', 'name', 'state'),
    ...number('submitted', 'started', 'ended'),
    ...count('nodes', 'cores'),
    ...number('time_limit'),
  ],
};

/** Facts of a measured job, beside its metrics. `measured_queue`: the queue that its metrics and flags went by. */
const MEASURED_FACTS: readonly FilterColumn[] = [
  ...text('id'),
  ...number('first', 'last', 'seconds'),
  ...count('hosts', 'groups', 'no_begin', 'no_end', 'cpus'),
  ...text('application', 'measured_queue', 'flags', 'doubtful'),
];

/** @param metrics what each means, with its unit */
export const measuredTable = (metrics: Readonly<Record<string, string>>): KeptTable => ({
  name: '_measured',
  columns: [...MEASURED_FACTS, ...number(...Object.keys(metrics))],
  comments: metrics,
});

/** Tells tables of other columns or rules apart. */
export const layoutOf = (metrics: Readonly<Record<string, string>>): string =>
  createHash('sha256')
    .update(JSON.stringify([3, META, FILES, FILE_JOBS, ACCOUNTING, measuredTable(metrics)]))
    .digest('hex')
    .slice(0, 16);

/** Sums of jobs, of which a group has one row each, by `cpus` and `avg_cpuusage`; `weight`: the part of a job that counts. */
const sums = (weight: string) => `count(*) AS jobs,
    sum(${weight} * hosts) / 3600 AS node_hours,
    sum(CASE WHEN cpus > 0 AND avg_cpuusage IS NOT NULL THEN avg_cpuusage * hosts * ${weight} END) / 3600 AS busy_cpu_hours,
    sum(CASE WHEN cpus > 0 AND avg_cpuusage IS NOT NULL THEN cpus * ${weight} END) / 3600 AS cpu_hours,
    busy_cpu_hours / nullif(cpu_hours, 0) AS efficiency,
    count(*) FILTER (flags != '') AS flagged_jobs,
    sum(CASE WHEN flags != '' THEN ${weight} * hosts ELSE 0 END) / 3600 AS flagged_node_hours`;

/** Groups by which jobs are summed up: the view's name is `jobs_by_…`. */
export const JOB_GROUPS = [
  'user',
  'account',
  'queue',
  'application',
  'state',
  'day',
  'flag',
] as const;
export type JobGroup = (typeof JOB_GROUPS)[number];

/** Jobs with what was accounted of them. */
export const jobsOf = (kept: string): string => `SELECT m.id, coalesce(a.user, '') AS user,
    coalesce(a.account, '') AS account, coalesce(a.queue, '') AS queue, coalesce(a.name, '') AS name,
    coalesce(a.state, '') AS state, a.submitted, a.started, a.ended, a.nodes AS requested_nodes,
    a.cores AS requested_cores, a.time_limit, m.* EXCLUDE (id, measured_queue),
    m.seconds * m.hosts / 3600 AS node_hours
  FROM ${kept}._measured m LEFT JOIN ${kept}._accounted x ON x.id = m.id
    LEFT JOIN ${kept}._accounting a ON a.rowid = x.place`;

/** Makes the table of what was accounted of each job: an id may have been given twice, at different times. */
export const ACCOUNTED_SQL = `CREATE OR REPLACE TABLE _accounted AS
  SELECT m.id, max(b.rowid) AS place FROM _measured m JOIN _accounting b ON b.id = m.id
    AND coalesce(b.started, '-infinity'::DOUBLE) <= m.last + ${SKEW_SECONDS}
    AND coalesce(b.ended, 'infinity'::DOUBLE) >= m.first - ${SKEW_SECONDS} GROUP BY m.id`;

/** Days (UTC) of rows with `first` and `last`: the rows, once for each day; what ends at midnight is not there on the next. */
const daysOf = (rows: string): string => `SELECT (DATE '1970-01-01' + d::INTEGER) AS day,
    greatest(first, d * ${DAY_SECONDS}) AS day_from, least(last, (d + 1) * ${DAY_SECONDS}) AS day_to,
    day_to - day_from AS day_seconds, j.*
  FROM ${rows} j, LATERAL (SELECT unnest(generate_series(
    floor(j.first / ${DAY_SECONDS})::BIGINT,
    greatest(floor(j.first / ${DAY_SECONDS}), ceil(j.last / ${DAY_SECONDS}) - 1)::BIGINT)) AS d)`;

/** Jobs, once for each flag that is raised. */
const flagsOf = (jobs: string): string =>
  `SELECT unnest(string_split(flags, ',')) AS flag, * FROM ${jobs} jobs WHERE flags != ''`;

/** A statement in two parts, between which a condition on the jobs may stand. */
interface Parts {
  readonly select: string;
  readonly order: string;
}

/** Sums of jobs by a group: what the view `jobs_by_…` shows. @param jobs where jobs are, such as the view */
export function sumsOf(group: JobGroup, jobs: string): Parts {
  const sumsBy = (from: string, weight: string, order: string): Parts => ({
    select: `SELECT "${group}", ${sums(weight)} FROM ${from}`,
    order: `GROUP BY "${group}" ORDER BY ${order}`,
  });
  if (group === 'day') return sumsBy(`(${daysOf(jobs)}) jobs`, 'day_seconds', 'day');
  const from = group === 'flag' ? `(${flagsOf(jobs)}) jobs` : `${jobs} jobs`;
  return sumsBy(from, 'seconds', `node_hours DESC, "${group}"`);
}

const statement = ({ select, order }: Parts): string => `${select} ${order}`;

/**
 * What jobs did on each host on each day: seconds of jobs (of several at a time, of each), seconds with any, those of jobs
 * that have flags, and the efficiency of those jobs on all their hosts, by these seconds.
 */
export const hostDaysOf = (jobs: string, hosts: string): Parts => ({
  select: `SELECT host, day, sum(day_seconds) AS job_seconds,
    sum(greatest(0, day_to - greatest(day_from, coalesce(before, day_from)))) AS busy_seconds,
    sum(CASE WHEN flags != '' THEN day_seconds ELSE 0 END) AS flagged_seconds,
    sum(CASE WHEN cpus > 0 AND avg_cpuusage IS NOT NULL THEN avg_cpuusage / cpus * day_seconds END)
      / nullif(sum(CASE WHEN cpus > 0 AND avg_cpuusage IS NOT NULL THEN day_seconds END), 0) AS efficiency
  FROM (SELECT *, max(day_to) OVER (PARTITION BY host, day ORDER BY day_from
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (${daysOf(`(SELECT h.host, h.first, h.last, own.* EXCLUDE (first, last)
    FROM ${hosts} h JOIN ${jobs} own ON own.id = h.job)`)}) days`,
  order: ') GROUP BY host, day ORDER BY host, day',
});

/**
 * Views of a kept file.
 * @param kept where its tables are, such as `kept.main`
 * @param into schema of the views
 */
export function jobViews(kept: string, into = 'main'): string[] {
  const view = (name: string, help: string, sql: string) => [
    `CREATE VIEW ${into}.${name} AS ${sql}`,
    `COMMENT ON VIEW ${into}.${name} IS '${help}'`,
  ];
  return [
    ...view('jobs', 'jobs of the archive: accounting, times, hosts, flags, metrics', jobsOf(kept)),
    ...view(
      'job_hosts',
      'hosts of each job, with their part of it',
      `SELECT job, host, min(first) AS first, max(last) AS last, sum(groups)::BIGINT AS groups,
        bool_or(has_begin) AS has_begin, bool_or(has_end) AS has_end
      FROM ${kept}._file_jobs JOIN ${kept}._files f ON f.id = file GROUP BY ALL`,
    ),
    ...view(
      'job_flags',
      'flags that are raised, one row each',
      `SELECT id, flag FROM (${flagsOf(`${into}.jobs`)})`,
    ),
    ...view('job_days', 'days (UTC) of each job, with the seconds of it', daysOf(`${into}.jobs`)),
    ...view(
      'host_days',
      'seconds with jobs on each host and day, and how busy those jobs were',
      statement(hostDaysOf(`${into}.jobs`, `${into}.job_hosts`)),
    ),
    ...JOB_GROUPS.flatMap((group) =>
      view(
        `jobs_by_${group}`,
        `jobs, node hours, CPU efficiency and flags by ${group}`,
        statement(sumsOf(group, `${into}.jobs`)),
      ),
    ),
  ];
}
