/** Jobs of an archive: the list, searched by fields, flags and metrics, and one job's page. */

import type { Context } from 'hono';
import { examineJob } from '../../findings/index.ts';
import {
  ALL_JOBS,
  gaugesOf,
  JOB_FLAGS,
  type Job,
  type JobRow,
  jobFacts,
  METRIC_COLUMNS,
  metricsInSteps,
} from '../../findings/job/index.ts';
import { filterRows } from '../../query/index.ts';
import type { JobListFacts, JobListRow, JobPageFacts } from '../../view/facts/jobs.ts';
import { STATEMENT_SECONDS } from '../net/limits.ts';
import { inTurns, nextTurn, SharedWork } from '../net/shared-work.ts';
import { jobOf, zeroSeconds } from './nodes.ts';
import { archiveOf } from './nodes-archive.ts';
import { trackMetrics, typesWithKeys } from './nodes-courses.ts';
import { type ApiContext, ApiError, type Route } from './route.ts';

/** Processes and oddities that a job's page lists. */
const MOST_LISTED = 500;
/** Characters of a condition. */
const MOST_CONDITION = 1000;

const TEXTS = ['id', 'user', 'account', 'queue', 'name', 'state'] as const;
const NUMBERS = ['first', 'last', 'seconds', 'hosts', 'groups', 'no_begin', 'no_end'] as const;

/** The rows for which an SQL condition is true. @throws QueryError, ApiError */
async function chosen(
  rows: readonly JobRow[],
  where: string,
  signal: AbortSignal,
): Promise<readonly JobRow[]> {
  if (where.length > MOST_CONDITION) {
    throw new ApiError(400, `where=… has more than ${MOST_CONDITION} characters`);
  }
  const columns = [
    ...TEXTS.map((name) => ({ name, type: 'VARCHAR' as const })),
    ...NUMBERS.map((name) => ({ name, type: 'DOUBLE' as const })),
    { name: 'flags', type: 'VARCHAR' as const },
    ...METRIC_COLUMNS.map((name) => ({ name, type: 'DOUBLE' as const })),
  ];
  const cells = rows.map((row) => [
    ...TEXTS.map((name) => row[name]),
    ...NUMBERS.map((name) => row[name]),
    (row.flags ?? []).join(','),
    ...METRIC_COLUMNS.map((name) => row.metrics[name] ?? null),
  ]);
  const limits = { timeLimit: STATEMENT_SECONDS, signal };
  return (await filterRows('jobs', columns, cells, where, limits)).map((k) => rows[k]);
}

async function list(c: Context, context: ApiContext): Promise<JobListFacts> {
  const shown = await context.shown(c);
  const archive = archiveOf(shown);
  const flags = JOB_FLAGS.map(({ name, means }) => ({ name, means }));
  const columns = [...TEXTS, ...NUMBERS, 'flags', ...METRIC_COLUMNS];
  if (archive === null) {
    return { available: false, jobs: [], total: 0, columns, flags, problems: [] };
  }
  const where = c.req.query('where') ?? '';
  const measured = c.req.query('metrics') === '1' || where !== '';
  const all = await (measured
    ? archive.measuredRows(context.signal)
    : archive.plainRows(context.signal));
  const found = where === '' ? all : await chosen(all, where, context.signal);
  const zero = zeroSeconds(shown);
  const { problems } = await archive.list(context.signal);
  return {
    available: true,
    jobs: found.map((row): JobListRow => ({ ...row, from: row.first - zero, to: row.last - zero })),
    total: all.length,
    columns,
    flags,
    problems: [
      ...problems.map(({ path, what }) => (what.startsWith(path) ? what : `${path}: ${what}`)),
      ...archive.archive.skipped
        .filter(({ why }) => /cannot|may not/.test(why))
        .map(({ path, why }) => `${path}: ${why}`),
    ],
  };
}

/** A job's page, but for its courses in time. `zero`: seconds since 1970 of the page's second 0. */
async function jobPage(job: Job, zero: number, signal: AbortSignal): Promise<JobPageFacts> {
  const metrics = await inTurns(metricsInSteps(job), signal);
  const { processes, oddities, ...page } = jobFacts(job, metrics);
  const ends = job.hosts.flatMap(({ times }) => [times[0], times.at(-1) ?? times[0]]);
  const span = [
    ends.reduce((a, b) => Math.min(a, b)) - zero,
    ends.reduce((a, b) => Math.max(a, b)) - zero,
  ] as const;
  return {
    ...page,
    ...(await examineJob(job, metrics, () => nextTurn(signal))),
    accounting: page.accounting,
    span: ends.length === 0 ? null : span,
    gauges: gaugesOf(job),
    processes: processes.slice(0, MOST_LISTED),
    processCount: processes.length,
    oddities: oddities.slice(0, MOST_LISTED),
    tracks: await inTurns(trackMetrics(job), signal),
    types: typesWithKeys(job),
  };
}

const PAGES = new WeakMap<Job, SharedWork<JobPageFacts>>();

export const JOBS: readonly Route[] = [
  {
    method: 'get',
    path: '/jobs',
    summary: 'Jobs of the raw stats files',
    parameters: [
      {
        name: 'metrics',
        help: '1: with metrics and flags',
        schema: { type: 'string', enum: ['0', '1'] },
      },
      {
        name: 'where',
        help: 'an SQL condition over the columns, such as avg_cpi > 1.5 AND hosts > 4',
        schema: { type: 'string' },
      },
    ],
    gives:
      'jobs with times, hosts and marks, from accounting files user, queue and state; the columns that a condition may name',
    answer: async (c, context) => c.json(await list(c, context)),
  },
  {
    method: 'get',
    path: '/job',
    summary: 'A job’s page: facts, metrics, flags, gauges, repairs',
    parameters: [
      {
        name: 'job',
        help: 'one of /api/jobs; * (and nothing): all that the hosts did',
        schema: { type: 'string' },
      },
    ],
    gives:
      'what `node job --json` prints, without courses in time; metrics and types that /api/nodes can be asked for',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const job = await jobOf(shown, c.req.query('job') ?? ALL_JOBS, context.signal);
      const page =
        PAGES.get(job) ?? new SharedWork((signal) => jobPage(job, zeroSeconds(shown), signal));
      PAGES.set(job, page);
      return c.json(await page.get(context.signal));
    },
  },
];
