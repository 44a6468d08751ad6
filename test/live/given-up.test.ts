/** Work for which nobody waits any more ends; what does not fit into a route's memory is refused before it is done. */
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../src/findings/index.ts';
import {
  type Job,
  listJobs,
  measuredRows,
  openArchive,
  readJob,
} from '../../src/findings/job/index.ts';
import { api, ROUTES } from '../../src/live/api/index.ts';
import { pageOf } from '../../src/live/api/nodes.ts';
import { type Courses, coursesOf } from '../../src/live/api/nodes-courses.ts';
import { processTraces } from '../../src/live/api/regions-profiles.ts';
import { cpuLanes, processLanes, signalBins } from '../../src/live/api/regions-traces.ts';
import { Exhibit } from '../../src/live/exhibit.ts';
import { Desk } from '../../src/live/net/desk.ts';
import { LIMITS } from '../../src/live/net/limits.ts';
import { inTurns, SharedWork, sharedBy, Turns } from '../../src/live/net/shared-work.ts';
import type { Shown } from '../../src/live/shown.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { SeriesStore } from '../../src/view/series/store.ts';
import { Track } from '../../src/view/series/track.ts';
import { breakdownOf } from '../../src/view/simulation/breakdown.ts';
import { CascadeIndex } from '../../src/view/simulation/cascades.ts';
import { densityOf, listOf } from '../../src/view/simulation/event-view.ts';
import { Events } from '../../src/view/simulation/events.ts';
import { type Heat, heatOf } from '../../src/view/simulation/heat.ts';
import {
  matrixOfEvents,
  matrixOfRollbacks,
  matrixOfSends,
} from '../../src/view/simulation/matrix.ts';
import { ordered } from '../../src/view/simulation/order.ts';
import { PlacesByLp } from '../../src/view/simulation/places.ts';
import { rollbacksIn } from '../../src/view/simulation/rollback-view.ts';
import { ROLLBACK_COLUMNS, Rollbacks } from '../../src/view/simulation/rollbacks.ts';
import { atOnce, type Steps } from '../../src/view/steps.ts';
import { cluster } from './support/cluster.ts';
import { regionRun } from './support/regions.ts';
import { batch, recording } from './support/samples.ts';

const reason = new Error('given up');
const never = new AbortController().signal;

describe('work that is shared', () => {
  it('goes on as long as one waits, ends with the last, and begins anew with the next', async () => {
    const ends: AbortSignal[] = [];
    const results: ((value: number) => void)[] = [];
    const work = new SharedWork<number>((signal) => {
      ends.push(signal);
      return new Promise((resolve, reject) => {
        results.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    });
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [work.get(one.signal), work.get(two.signal)];
    one.abort(reason);
    await expect(asked[0]).rejects.toBe(reason);
    expect([ends.length, ends[0].aborted]).toEqual([1, false]);
    two.abort(reason);
    await expect(asked[1]).rejects.toBe(reason);
    expect([ends.length, ends[0].aborted]).toEqual([1, true]);
    await expect(work.get(one.signal)).rejects.toBe(reason);
    expect(ends).toHaveLength(1);
    const again = work.get(never);
    results[1](7);
    expect([await again, await work.get(never), ends.length]).toEqual([7, 7, 2]);
  });

  it('that failed is tried again by the next', async () => {
    let tries = 0;
    const work = sharedBy(async (of: { n: number }) => {
      if (tries++ === 0) throw reason;
      return of.n;
    });
    const of = { n: 5 };
    await expect(work(of, never)).rejects.toBe(reason);
    expect([await work(of, never), await work(of, never), tries]).toEqual([5, 5, 2]);
  });

  it('that takes rows gives others their turn, and looks at its signal', async () => {
    const end = new AbortController();
    const turns = new Turns(end.signal);
    await turns.took(1);
    setImmediate(() => end.abort(reason));
    await expect(turns.took(1_000_000)).rejects.toBe(reason);
  });
});

describe('work that is given up', () => {
  let nodes = '';
  beforeAll(() => {
    nodes = cluster(2);
  });
  const archive = () => openArchive(nodes);
  const ALL = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };

  it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['a list of jobs', (signal) => listJobs(archive(), { ...ALL, signal })],
    ['a job', (signal) => readJob(archive(), { id: '7', signal })],
    [
      'the metrics of a job',
      async (signal) => {
        const { jobs } = await listJobs(archive(), ALL);
        const read = jobs.map((listed) => ({ listed, accounted: null }));
        return measuredRows(read, { foreign: false, signal });
      },
    ],
    [
      'findings',
      async (signal) => {
        const tables = await openRecording(nodes);
        return examine(tables, { path: nodes, signal }).finally(() => tables.close());
      },
    ],
  ])('%s ends with the reason', async (_, work) => {
    await expect(work(never)).resolves.toBeDefined();
    const end = new AbortController();
    const doing = work(end.signal);
    end.abort(reason);
    await expect(doing).rejects.toBe(reason);
  });
});

/** KPs of those rollbacks. */
const KPS = 20_000;

/** 150,000 rollbacks: half of them of one cascade. */
function manyRollbacks() {
  const length = 150_000;
  const half = length / 2;
  const f64 = (of: (k: number) => number) => Float64Array.from({ length }, (_, k) => of(k));
  const values: Readonly<Record<string, Float64Array>> = {
    real_time: f64((k) => k / length),
    kp_id: f64((k) => k % KPS),
    rollback_id: f64((k) => k + 1),
    parent_id: f64((k) => (k > 0 && k < half ? 1 : 0)),
    source_lp: f64((k) => k),
    events_undone: f64((k) => k % 97),
  };
  const none = new Float64Array(length);
  const all = new Rollbacks();
  all.add(
    ROLLBACK_COLUMNS.map((key) => values[key] ?? none),
    () => 'straggler',
    length,
    0,
  );
  return all;
}

/** A host's traces: 100,000 rows of four CPUs, and as many of four processes. */
function manyRegions() {
  const length = 100_000;
  const times = Float64Array.from({ length }, (_, k) => k / length);
  const hashes = Uint32Array.from({ length }, (_, k) => k % 7);
  const signal = new Track(1);
  for (let k = 1; k < length; k++) {
    signal.add(times[k - 1], times[k]);
    signal.set(0, k);
  }
  const four = [0, 1, 2, 3];
  const trace = {
    times,
    epochs: times,
    lanes: new Map(four.map((cpu) => [`CPU ${cpu}`, hashes])),
  };
  const hosts = four.map((k) => ({ host: `n${k}`, signals: new Map([['power', signal]]) }));
  const told = four.map((process) => ({
    ...{ host: 'n1', process },
    events: Array.from(times, (time, k) => ({
      ...{ time, hash: 5 },
      event: k % 2 === 0 ? 'REGION_ENTRY' : 'REGION_EXIT',
    })),
  }));
  return { trace, hosts, told };
}

/** A job of 1,600 hosts. */
async function largeJob() {
  const job = await readJob(openArchive(cluster(1)), { id: '7', signal: never });
  const [host] = job.hosts;
  return { ...job, hosts: Array.from({ length: 1600 }, (_, k) => ({ ...host, host: `n${k}` })) };
}

/** 1,000 PEs, 60 samples each, and 150,000 traced events and rollbacks of 1,000 LPs. */
function manySamples() {
  const store = new SeriesStore();
  const pes = Array.from({ length: 1000 }, (_, pe) => pe);
  for (let t = 1; t <= 60; t++) {
    const of = (pe: number) => ({ real_time: t, mode: 'rt', pe_id: pe, events_processed: pe % 97 });
    store.add(
      batch(
        ROSS_PE,
        pes.map((pe) => ({ ...of(pe), events_rolled_back: 1, network_sends: t, gvt_time: 0.1 })),
      ),
    );
  }
  const length = 150_000;
  const u32 = Uint32Array.from({ length }, (_, k) => k % 1000);
  const f64 = Float64Array.from({ length }, (_, k) => k / length);
  const events = new Events();
  events.add([u32, u32.toReversed(), f64, f64, f64], length, 0);
  const rollbacks = new Rollbacks();
  rollbacks.add(
    ROLLBACK_COLUMNS.map(() => u32),
    () => 'straggler',
    length,
    0,
  );
  return { store, events, rollbacks };
}

describe('work on samples in memory', () => {
  const { store, events, rollbacks } = manySamples();
  const places = new PlacesByLp();
  const window = { from: 0, to: 61, within: '' };
  const ask = { ...window, level: 'pe', metric: 'events_processed', bins: 100 } as const;
  const lps = { ...window, level: 'lp' } as const;
  const heat = atOnce(heatOf)(store, ask) as Heat;
  const chains = manyRollbacks();
  const cascades = atOnce(CascadeIndex.of)(chains);
  const everywhere = new PlacesByLp();
  for (let lp = 0; lp < chains.length; lp++) everywhere.put(lp, 0, lp % KPS);
  const { trace, hosts, told } = manyRegions();
  const traced = atOnce(processTraces)(told);
  let job: Job;
  let courses: Courses;
  beforeAll(async () => {
    job = await largeJob();
    courses = atOnce(coursesOf)(job, 'cpu.user', 0) as Courses;
  });

  it.each<[string, () => Steps<unknown>]>([
    ['a heatmap', () => heatOf(store, ask)],
    ['one of a ratio', () => heatOf(store, { ...ask, metric: 'efficiency', lossy: true })],
    ['rows by likeness', () => ordered(heat, 'similar')],
    ['a breakdown', () => breakdownOf(store, 0, 61)],
    ['series', () => store.seriesSteps('ross_pe', ['events_processed'], 0, 61, 100)],
    ['a matrix of events', () => matrixOfEvents(events, places, { ...lps, of: 'events' })],
    ['one of counters', () => matrixOfSends(store, { ...window, level: 'pe', of: 'sends' })],
    [
      'one of rollbacks',
      () => matrixOfRollbacks(rollbacks, places, { ...window, level: 'pe', of: 'rollbacks' }),
    ],
    [
      'one of rollbacks of 20,000 KPs',
      () => matrixOfRollbacks(chains, everywhere, { ...window, level: 'kp', of: 'rollbacks' }),
    ],
    ['single rollbacks', () => rollbacksIn(chains, window, 1000)],
    ['cascades', () => CascadeIndex.of(chains)],
    ['the worst of them', () => cascades.list({ most: 50 })],
    ['the rollbacks of one', () => cascades.tree(0, 1, 500)],
    ['lanes of CPUs', () => cpuLanes(trace, 0, 1, 500)],
    ['profile traces', () => processTraces(told)],
    ['lanes of processes', () => processLanes(traced, 0, 1, 500)],
    ['signals of regions', () => signalBins(hosts, 'power', 0, 1, 500)],
    ['hosts in time', () => coursesOf(job, 'cpu.user', 0)],
    ['bins of them', () => courses.bins(0, 1, 500)],
    ['devices of hosts', () => pageOf(job, 'cpu', undefined, () => '')],
    ['events in time', () => densityOf(events, places, { ...lps, sender: '', bins: 100 })],
    ['single events', () => listOf(events, places, { ...lps, within: '?', sender: '' }, 10)],
  ])('%s: ends in the middle when nobody waits', async (_, work) => {
    let rows = 0;
    function* counted() {
      for (const took of work()) {
        rows += took;
        yield took;
      }
    }
    await inTurns(counted(), never);
    const all = rows;
    rows = 0;
    const end = new AbortController();
    const doing = inTurns(counted(), end.signal);
    setImmediate(() => end.abort(reason));
    await expect(doing).rejects.toBe(reason);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(0.9 * all);
  });

  it.each([
    '/heatmap?metric=events_processed&sort=similar&from=0&to=61',
    '/series?table=ross_pe&metric=events_processed&bins=100',
    '/breakdown?from=0&to=61',
  ])('others are answered before %s is, which ends when its client goes', async (heavy) => {
    const gone = new AbortController();
    const app = api(
      {
        desk: new Desk(never),
        gone: (c) => (c.req.query('gone') === undefined ? never : gone.signal),
        shown: async () =>
          ({ store, facts: { notes: [] }, live: false, path: null }) as unknown as Shown,
        all: async () => [],
        refused: [],
      },
      ROUTES,
    );
    const order: string[] = [];
    const asked = async (path: string, name: string) => {
      const { status } = await app.request(path);
      order.push(name);
      return status;
    };
    const statuses = await Promise.all([asked(heavy, 'heavy'), asked('/tables', 'light')]);
    expect([statuses, order]).toEqual([
      [200, 200],
      ['light', 'heavy'],
    ]);
    const left = app.request(`${heavy}&gone=1&bins=99`);
    setImmediate(() => gone.abort());
    expect((await left).status).toBe(503);
  });
});

describe('a job’s page', () => {
  it('is made between the answers to others, and ends when its client goes', async () => {
    const exhibit = await Exhibit.open('nodes', null, cluster(2));
    const gone = new AbortController();
    const app = api(
      {
        desk: new Desk(never),
        gone: (c) => (c.req.query('gone') === undefined ? never : gone.signal),
        shown: () => exhibit.now(),
        all: async () => [await exhibit.now()],
        refused: [],
      },
      ROUTES,
    );
    const order: string[] = [];
    const asked = async (path: string) => {
      const { status } = await app.request(path);
      order.push(path);
      return status;
    };
    // The job is read: what is left is its page.
    expect(await asked('/nodes/suspects?job=7&metric=track:cpu')).toBe(200);
    const left = asked('/job?job=7&gone=1');
    setImmediate(() => setImmediate(() => gone.abort()));
    expect(await left).toBe(503);
    const statuses = await Promise.all([asked('/job?job=7'), asked('/tables')]);
    expect([statuses, order.slice(2)]).toEqual([
      [200, 200],
      ['/tables', '/job?job=7'],
    ]);
    await exhibit.close();
  });
});

describe('what does not fit into the memory of its route', () => {
  let exhibits: readonly Exhibit[] = [];
  beforeAll(async () => {
    const paths = { samples: recording(), nodes: cluster(2), regions: regionRun() };
    exhibits = await Promise.all(
      Object.entries(paths).map(([id, path]) => Exhibit.open(id, null, path)),
    );
  });
  afterAll(async () => {
    for (const one of exhibits) await one.close();
  });

  const routes = (memory: number | null) =>
    api(
      {
        desk: new Desk(never),
        gone: () => never,
        shown: async (c) => {
          const one = exhibits.find(({ id }) => id === c.req.query('recording'));
          if (one === undefined) throw new Error('no such exhibit');
          return one.now();
        },
        all: () => Promise.all(exhibits.map((one) => one.now())),
        refused: [],
      },
      ROUTES,
      (path) => ({ ...LIMITS[`/api${path}`], ...(memory !== null && { memory }) }),
    );

  it.each([
    '/series?recording=samples&table=ross_pe&metric=gvt&bins=10',
    '/series/several?recording=samples&sums=ross_pe:gvt&from=0&to=1&bins=10',
    '/heatmap?recording=samples&metric=events_processed&bins=10',
    '/nodes/series?recording=nodes&job=7&metric=cpu.user&bins=10',
    '/regions/lanes?recording=regions&host=n1&from=0&to=10&bins=10',
    '/regions/processes?recording=regions&host=n1&from=0&to=10&bins=10',
    '/regions/signal?recording=regions&signal=cpu_energy&from=0&to=10&bins=10',
  ])('is refused: %s', async (path) => {
    const refused = await routes(8).request(path);
    expect([refused.status, await refused.json()]).toEqual([
      413,
      { error: expect.stringContaining('ask for fewer bins=…') },
    ]);
    expect((await routes(null).request(path)).status).toBe(200);
  });
});
