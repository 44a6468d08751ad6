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
import { JOB_GROUPS } from '../../query/job-tables.ts';
import type {
  JobListFacts,
  JobListRow,
  JobPageFacts,
  JobSumsFacts,
} from '../../view/facts/jobs.ts';
import { STATEMENT_SECONDS } from '../net/limits.ts';
import { inTurns, nextTurn, SharedWork } from '../net/shared-work.ts';
import { jobOf, zeroSeconds } from './nodes.ts';
import { archiveOf } from './nodes-archive.ts';
import { trackMetrics, typesWithKeys } from './nodes-courses.ts';
import { type ApiContext, ApiError, integerOf, type Route } from './route.ts';

/** Processes and oddities that a job's page lists. */
const MOST_LISTED = 500;
/** Characters of a condition. */
const MOST_CONDITION = 1000;
/** Words that are looked for. */
const MOST_WORDS = 20;
/** Jobs that are sent; of more, the latest. */
const MOST_ROWS = 5000;

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
  const { user, signal } = context;
  const flags = JOB_FLAGS.map(({ name, means }) => ({ name, means }));
  const columns = [...TEXTS, ...NUMBERS, 'flags', ...METRIC_COLUMNS];
  if (archive === null) {
    return { available: false, jobs: [], found: 0, total: 0, columns, flags, problems: [] };
  }
  const [where, flag] = [c.req.query('where') ?? '', c.req.query('flag') ?? ''];
  const search = {
    words: (c.req.query('words') ?? '').split(/\s+/).filter(Boolean).slice(0, MOST_WORDS),
    ...{ flag, where, measured: c.req.query('metrics') === '1' || where !== '' || flag !== '' },
    most: integerOf(c, 'most', MOST_ROWS, 1, MOST_ROWS),
  };
  const choose = (rows: readonly JobRow[]) => chosen(rows, where, signal);
  const { rows, found, total, problems } = await archive.search(search, user, signal, choose);
  const zero = zeroSeconds(shown);
  return {
    available: true,
    jobs: rows.map((row): JobListRow => ({ ...row, from: row.first - zero, to: row.last - zero })),
    ...{ found, total, columns, flags },
    problems:
      user === null
        ? [
            ...problems.map(({ path, what }) =>
              what.startsWith(path) ? what : `${path}: ${what}`,
            ),
            ...archive.archive.skipped
              .filter(({ why }) => /cannot|may not/.test(why))
              .map(({ path, why }) => `${path}: ${why}`),
          ].slice(0, MOST_LISTED)
        : [],
  };
}

async function sums(c: Context, context: ApiContext): Promise<JobSumsFacts> {
  const by = JOB_GROUPS.find((group) => group === c.req.query('by'));
  if (by === undefined) throw new ApiError(400, `by=… must be one of ${JOB_GROUPS.join(', ')}`);
  const archive = archiveOf(await context.shown(c));
  const groups = (await archive?.sums(by, context.user)) ?? null;
  return { by, groups };
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
    forUsers: true,
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
      {
        name: 'words',
        help: 'words that are all in a job’s id, user, account, queue, name or state',
        schema: { type: 'string' },
      },
      { name: 'flag', help: 'a flag that is up', schema: { type: 'string' } },
      {
        name: 'most',
        help: `jobs at most, the latest; ${MOST_ROWS} where it is not given`,
        schema: { type: 'integer', minimum: 1, maximum: MOST_ROWS },
      },
    ],
    gives:
      'jobs with times, hosts and marks, from accounting files user, queue and state; how many were found; the columns that a condition may name',
    answer: async (c, context) => c.json(await list(c, context)),
  },
  {
    method: 'get',
    path: '/jobs/sums',
    forUsers: true,
    summary: 'Sums of jobs by user, account, queue, application, state or day',
    parameters: [
      {
        name: 'by',
        help: 'what they are summed up by',
        schema: { type: 'string', enum: JOB_GROUPS },
        required: true,
      },
    ],
    gives:
      'jobs, node hours, CPU efficiency and flags of each group; groups are null where the archive has no job index',
    answer: async (c, context) => c.json(await sums(c, context)),
  },
  {
    method: 'get',
    path: '/job',
    forUsers: true,
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
      const job = await jobOf(shown, c.req.query('job') ?? ALL_JOBS, context);
      const page =
        PAGES.get(job) ?? new SharedWork((signal) => jobPage(job, zeroSeconds(shown), signal));
      PAGES.set(job, page);
      return c.json(await page.get(context.signal));
    },
  },
];
