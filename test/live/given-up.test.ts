/** Work for which nobody waits any more ends; what does not fit into a route's memory is refused before it is done. */
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../src/findings/index.ts';
import { listJobs, measuredRows, openArchive, readJob } from '../../src/findings/job/index.ts';
import { api, ROUTES } from '../../src/live/api/index.ts';
import { Exhibit } from '../../src/live/exhibit.ts';
import { Desk } from '../../src/live/net/desk.ts';
import { LIMITS } from '../../src/live/net/limits.ts';
import { SharedWork, sharedBy, Turns } from '../../src/live/net/shared-work.ts';
import { cluster } from './support/cluster.ts';
import { regionRun } from './support/regions.ts';
import { recording } from './support/samples.ts';

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
