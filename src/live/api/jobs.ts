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
import { didYouMean } from '../../model/nearest.ts';
import { DAY_SECONDS } from '../../model/units.ts';
import { filterRows } from '../../query/index.ts';
import { JOB_GROUPS } from '../../query/job-tables.ts';
import type {
  HostDaysFacts,
  JobListFacts,
  JobListRow,
  JobPageFacts,
  JobSumsFacts,
} from '../../view/facts/jobs.ts';
import { STATEMENT_SECONDS } from '../net/limits.ts';
import { inTurns, nextTurn, SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { jobOf, zeroSeconds } from './nodes.ts';
import { archiveOf, JOB_FIELDS, type JobSearch, type JobsAsked } from './nodes-archive.ts';
import { trackMetrics, typesWithKeys } from './nodes-courses.ts';
import {
  type ApiContext,
  ApiError,
  integerOf,
  type Parameter,
  type Route,
  windowOf,
} from './route.ts';

/** Processes and oddities that a job's page lists. */
const MOST_LISTED = 500;
/** Characters of a condition. */
const MOST_CONDITION = 1000;
/** Words that are looked for. */
const MOST_WORDS = 20;
/** Jobs that are sent; of more, the latest. */
const MOST_ROWS = 5000;

const TEXTS = ['id', 'user', 'account', 'queue', 'name', 'state', 'application'] as const;
const NUMBERS = ['first', 'last', 'seconds', 'hosts', 'groups', 'no_begin', 'no_end'] as const;

const COLUMNS = [...TEXTS, ...NUMBERS, 'flags', ...METRIC_COLUMNS];

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

/** Which jobs a request is about. @throws ApiError */
function jobsAsked(c: Context, shown: Shown): JobsAsked {
  const text = (name: string) => c.req.query(name) ?? '';
  const zero = zeroSeconds(shown);
  const window = c.req.query('from') !== undefined || c.req.query('to') !== undefined;
  const { from, to } = windowOf(c, { from: -1e12, to: 1e12 });
  return {
    words: text('words').split(/\s+/).filter(Boolean).slice(0, MOST_WORDS),
    same: Object.fromEntries(
      JOB_FIELDS.flatMap((name) => {
        const value = c.req.query(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    ...{ flag: text('flag'), where: text('where'), host: text('host') },
    between: window ? [from + zero, to + zero] : undefined,
  };
}

/** The metrics that rows shall have. @throws ApiError */
function metricsAsked(c: Context): readonly string[] {
  const text = c.req.query('metrics') ?? '0';
  if (text === '0' || text === '1') return text === '1' ? METRIC_COLUMNS : [];
  const names = text.split(',').filter(Boolean);
  const strange = names.find((name) => !METRIC_COLUMNS.includes(name));
  if (strange === undefined) return names;
  throw new ApiError(400, `metrics=…: there is no metric ${JSON.stringify(strange)}`);
}

/** @throws ApiError */
function sortAsked(c: Context): JobSearch['sort'] {
  const text = c.req.query('sort');
  if (text === undefined || text === '') return undefined;
  const down = text.startsWith('-');
  const column = down ? text.slice(1) : text;
  if (COLUMNS.includes(column)) return { column, down };
  const near = didYouMean(column, COLUMNS) || '; without sort=… the latest jobs come first';
  throw new ApiError(400, `sort=…: there is no column ${JSON.stringify(column)}${near}`);
}

async function list(c: Context, context: ApiContext): Promise<JobListFacts> {
  const shown = await context.shown(c);
  const archive = archiveOf(shown);
  const { user, signal } = context;
  const flags = JOB_FLAGS.map(({ name, means }) => ({ name, means }));
  const columns = COLUMNS;
  if (archive === null) {
    return { available: false, jobs: [], found: 0, total: 0, columns, flags, problems: [] };
  }
  const asked = jobsAsked(c, shown);
  const [metrics, sort] = [metricsAsked(c), sortAsked(c)];
  const sortsMetric = sort !== undefined && METRIC_COLUMNS.includes(sort.column);
  const search: JobSearch = {
    ...{ ...asked, metrics, sort },
    measured: metrics.length > 0 || sortsMetric || asked.where !== '' || asked.flag !== '',
    most: integerOf(c, 'most', MOST_ROWS, 1, MOST_ROWS),
    skip: integerOf(c, 'skip', 0, 0, Number.MAX_SAFE_INTEGER),
  };
  const choose = (rows: readonly JobRow[]) => chosen(rows, asked.where, signal);
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
  const shown = await context.shown(c);
  const groups = (await archiveOf(shown)?.sums(by, jobsAsked(c, shown), context.user)) ?? null;
  return { by, groups };
}

/** Seconds of a day between two moments. */
function lengthOf(day: string, [first, last]: readonly [number, number]): number {
  const begin = Date.parse(day) / 1000;
  return Math.max(0, Math.min(last, begin + DAY_SECONDS) - Math.max(first, begin));
}

async function hosts(c: Context, context: ApiContext): Promise<HostDaysFacts> {
  const shown = await context.shown(c);
  const found = await archiveOf(shown)?.hostDays(jobsAsked(c, shown), context.user);
  if (found === undefined || found === null) {
    return { days: [], lengths: [], idle: null, hosts: null };
  }
  const days = [...new Set(found.rows.map(({ day }) => day))].sort();
  const place = new Map(days.map((day, k) => [day, k]));
  const empty = () => days.map((): number | null => null);
  type Columns = Record<'seconds' | 'busy' | 'flagged' | 'efficiency', (number | null)[]>;
  const byHost = new Map<string, Columns>();
  for (const { host, day, seconds, busySeconds, flaggedSeconds, efficiency } of found.rows) {
    const own = byHost.get(host) ?? {
      ...{ seconds: empty(), busy: empty(), flagged: empty(), efficiency: empty() },
    };
    byHost.set(host, own);
    const k = place.get(day) ?? 0;
    own.seconds[k] = seconds;
    own.busy[k] = busySeconds;
    own.flagged[k] = flaggedSeconds;
    own.efficiency[k] = efficiency;
  }
  return {
    days,
    lengths: days.map((day) => lengthOf(day, found.span)),
    idle: context.user === null ? found.hosts.filter((host) => !byHost.has(host)) : null,
    hosts: [...byHost].map(([host, own]) => ({ host, ...own })),
  };
}

/** A job's page, except for its courses in time. `zero`: seconds since 1970 of the page's second 0. */
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

const text = (name: string, help: string): Parameter => ({
  ...{ name, help },
  schema: { type: 'string' },
});
/** Which jobs. */
const WHICH: readonly Parameter[] = [
  text('words', 'words that are all in a job’s id, user, account, queue, name or state'),
  ...JOB_FIELDS.map((name) => text(name, `jobs whose ${name} is this`)),
  text('flag', 'a flag that is raised'),
  text('where', 'an SQL condition over the columns, such as avg_cpi > 1.5 AND hosts > 4'),
  text('host', 'a host that they ran on'),
  {
    name: 'from',
    help: 'seconds since the recording’s zero: jobs that were there later',
    schema: { type: 'number' },
  },
  { name: 'to', help: 'seconds: jobs that were there before', schema: { type: 'number' } },
];

const PAGES = new WeakMap<Job, SharedWork<JobPageFacts>>();

export const JOBS: readonly Route[] = [
  {
    method: 'get',
    path: '/jobs',
    forUsers: true,
    summary: 'Jobs of the raw stats files',
    parameters: [
      ...WHICH,
      {
        name: 'metrics',
        help: 'names of metrics, by commas, or 1: all; jobs have flags, too, where metrics are asked for',
        schema: { type: 'string' },
      },
      {
        name: 'most',
        help: `jobs at most, the latest; ${MOST_ROWS} where it is not given`,
        schema: { type: 'integer', minimum: 1, maximum: MOST_ROWS },
      },
      {
        name: 'skip',
        help: 'leaves out so many that would come first',
        schema: { type: 'integer', minimum: 0 },
      },
      {
        name: 'sort',
        help: 'a column, such as seconds, or -seconds: the longest first; by their first record where it is not given',
        schema: { type: 'string' },
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
    summary: 'Sums of jobs by user, account, queue, application, state, day or flag',
    parameters: [
      ...WHICH,
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
    path: '/jobs/hosts',
    forUsers: true,
    summary: 'What jobs did on each host and day',
    parameters: WHICH,
    gives:
      'days, and of each host by day: seconds of jobs (of several at a time, of each), seconds with any, seconds of flagged jobs, CPU efficiency of these jobs on all their hosts; hosts without these jobs; hosts are null where the archive has no job index',
    answer: async (c, context) => c.json(await hosts(c, context)),
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
