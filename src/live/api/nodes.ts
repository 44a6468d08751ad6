/** Nodes: hosts in time on one scale, doubtful stretches, and every key of every device. */
import type { Context } from 'hono';
import {
  ALL_JOBS,
  type DeviceRow,
  devicePage,
  type Job,
  repairsOf,
} from '../../findings/job/index.ts';
import { packBins } from '../../view/binary.ts';
import type { DevicePage, DevicePageRow, SuspectSpans } from '../../view/facts/nodes.ts';
import { STEP, type Steps } from '../../view/steps.ts';
import { inTurns } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { archiveOf } from './nodes-archive.ts';
import { type Courses, coursesOf } from './nodes-courses.ts';
import {
  type ApiContext,
  ApiError,
  BYTES,
  bytesAnswer,
  CELL_BYTES,
  CELL_TEXT_BYTES,
  fits,
  integerOf,
  listOf,
  type Parameter,
  type Route,
  WINDOW,
  wantsBytes,
  windowOf,
} from './route.ts';

const MOST_BINS = 4000;
const DEFAULT_BINS = 200;
/** Rows of a device page that are sent. */
const MOST_ROWS = 5000;

const JOB: Parameter = {
  name: 'job',
  help: 'one of /api/jobs; * (and nothing): all that the hosts did',
  schema: { type: 'string' },
};
const METRIC: Parameter = {
  name: 'metric',
  help: 'a track or TYPE.KEY of /api/job',
  schema: { type: 'string' },
  required: true,
};

/** Seconds since 1970 of the page's second 0. */
export const zeroSeconds = ({ facts }: Shown): number => Number(BigInt(facts.zero) / 1000n) / 1e6;

/** The job that a request is about. @throws ApiError */
export async function jobOf(
  shown: Shown,
  id: string,
  { user, signal }: Pick<ApiContext, 'user' | 'signal'>,
): Promise<Job> {
  const archive = archiveOf(shown);
  if (archive === null) throw new ApiError(400, 'there are no raw stats files in this recording');
  try {
    return await archive.job(id === '' ? ALL_JOBS : id, user, signal);
  } catch (error) {
    if ((error as Error).name !== 'JobNotFoundError') throw error;
    throw new ApiError(400, (error as Error).message);
  }
}

const COURSES = new WeakMap<Job, Map<string, Courses | null>>();
/** Metrics of a job that are kept. */
const MOST_COURSES = 24;

async function coursesFor(c: Context, context: ApiContext): Promise<Courses> {
  const shown = await context.shown(c);
  const job = await jobOf(shown, c.req.query('job') ?? '', context);
  const id = c.req.query('metric') ?? '';
  const kept = COURSES.get(job) ?? new Map<string, Courses | null>();
  COURSES.set(job, kept);
  const known = kept.get(id);
  const found =
    known === undefined
      ? await inTurns(coursesOf(job, id, zeroSeconds(shown)), context.signal)
      : known;
  kept.set(id, found);
  for (const old of [...kept.keys()].slice(0, -MOST_COURSES)) kept.delete(old);
  if (found === null) {
    throw new ApiError(400, `job ${job.id} has no metric ${JSON.stringify(id)}: see /api/job`);
  }
  return found;
}

const plain = (column: Float32Array) => Array.from(column, (v) => (Number.isNaN(v) ? null : v));

const bins: Route = {
  method: 'get',
  path: '/nodes/series',
  forUsers: true,
  summary: 'Hosts in time: least, most and mean of a track or key, per bin',
  parameters: [
    JOB,
    METRIC,
    ...WINDOW,
    {
      name: 'bins',
      help: `${DEFAULT_BINS} where it is not given`,
      schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
    },
    { name: 'hosts', help: 'some, separated by commas', schema: { type: 'string' } },
  ],
  gives: 'as /api/series, an entity per host; counters as amounts a second',
  types: ['application/json', BYTES],
  answer: async (c, context) => {
    const courses = await coursesFor(c, context);
    const { from, to } = windowOf(c, { from: 0, to: 1 });
    const count = integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS);
    const hosts = listOf(c, 'hosts');
    fits(
      courses.hosts(hosts) * count,
      wantsBytes(c) ? CELL_BYTES : CELL_TEXT_BYTES,
      context.limits,
    );
    const series = await inTurns(courses.bins(from, to, count, hosts), context.signal);
    if (wantsBytes(c)) return bytesAnswer(c, packBins(from, to, count, series));
    return c.json({
      from,
      to,
      bins: count,
      unit: courses.metric.unit,
      entities: series.map(({ entity, min, max, mean }) => ({
        entity,
        min: plain(min),
        max: plain(max),
        mean: plain(mean),
      })),
    });
  },
};

const suspects: Route = {
  method: 'get',
  path: '/nodes/suspects',
  forUsers: true,
  summary: 'Where a metric is doubtful, and why',
  parameters: [JOB, METRIC],
  gives: 'spans of time with host and reason',
  answer: async (c, context) => {
    const { spans } = await coursesFor(c, context);
    return c.json({ spans } satisfies SuspectSpans);
  },
};

/** Repaired and doubtful differences of keys, in words. */
function repairTexts(job: Job, type: string): ReadonlyMap<string, string> {
  const verdicts = ['wrapped', 'dip', 'reset', 'suspect'] as const;
  return new Map(
    repairsOf(job)
      .filter((one) => one.type === type)
      .map((one) => [
        one.key,
        verdicts
          .filter((verdict) => one[verdict] > 0)
          .map((verdict) => `${one[verdict]} ${verdict}`)
          .join(', '),
      ]),
  );
}

/** Rows by host and device, columns by key: `all` first, those with the most keys as they come. */
export function* pageOf(
  job: Job,
  type: string,
  hosts: readonly string[] | undefined,
  helpOf: (key: string) => string,
): Steps<DevicePage> {
  const chosen =
    hosts === undefined
      ? job
      : { ...job, hosts: job.hosts.filter(({ host }) => hosts.includes(host)) };
  const cells: DeviceRow[] = [];
  for (const host of chosen.hosts) {
    if (!host.types.has(type)) continue;
    const own = devicePage({ ...chosen, hosts: [host] }, type);
    for (const cell of own) cells.push(cell);
    yield own.length;
  }
  // None: what the job has instead is told.
  if (cells.length === 0) devicePage(chosen, type);
  const repairs = repairTexts(job, type);
  yield cells.length;
  const keys = new Map<string, DevicePage['keys'][number]>();
  for (const { key, kind, unit } of cells) {
    if (keys.has(key)) continue;
    keys.set(key, { name: key, unit, kind, help: helpOf(key), repairs: repairs.get(key) ?? '' });
  }
  const names = [...keys.keys()];
  const placeOf = new Map(names.map((name, k) => [name, k]));
  const rows = new Map<string, DevicePageRow>();
  const blank = <T>(): (T | null)[] => names.map(() => null);
  for (const [n, cell] of cells.entries()) {
    if (n % STEP === 0) yield STEP;
    const of = `${cell.host} ${cell.device}`;
    let row = rows.get(of);
    if (row === undefined) {
      row = {
        ...{ host: cell.host, device: cell.device },
        ...{ totals: blank<string>(), rates: blank<number>() },
        ...{ least: blank<number>(), most: blank<number>() },
      };
      rows.set(of, row);
    }
    const k = placeOf.get(cell.key) as number;
    const set = <T>(list: readonly (T | null)[], value: T | null) => {
      (list as (T | null)[])[k] = value;
    };
    set(row.totals, cell.total ?? (cell.last === null ? null : String(cell.last)));
    set(row.rates, cell.rate);
    set(row.least, cell.least);
    set(row.most, cell.most);
  }
  const all = [...rows.values()];
  const ordered = [
    ...all.filter(({ device }) => device === 'all'),
    ...all.filter(({ device }) => device !== 'all'),
  ];
  return { type, keys: [...keys.values()], rows: ordered.slice(0, MOST_ROWS), total: all.length };
}

const devices: Route = {
  method: 'get',
  path: '/nodes/devices',
  forUsers: true,
  summary: 'Every key of every device of a type: totals and rates',
  parameters: [
    JOB,
    { name: 'type', help: 'a type of /api/job', schema: { type: 'string' }, required: true },
    { name: 'hosts', help: 'some, separated by commas', schema: { type: 'string' } },
  ],
  gives: 'keys with units, a row per device and one (`all`) per host; totals are exact digits',
  answer: async (c, context) => {
    const job = await jobOf(await context.shown(c), c.req.query('job') ?? '', context);
    try {
      const type = c.req.query('type') ?? '';
      const { NODE_TYPES } = await import('../../node/types/index.ts');
      const known = NODE_TYPES.find(({ name }) => name === type)?.metrics ?? [];
      const helpOf = (name: string) => known.find(({ key }) => key === name)?.help ?? '';
      const page = pageOf(job, type, listOf(c, 'hosts'), helpOf);
      return c.json(await inTurns(page, context.signal));
    } catch (error) {
      if ((error as Error).name !== 'JobNotFoundError') throw error;
      throw new ApiError(400, (error as Error).message);
    }
  },
};

export const NODES: readonly Route[] = [bins, suspects, devices];
