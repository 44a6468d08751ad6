/** `sim run --animate`: frames and places as they are recorded, served, and fitted into a picture. */
import { join } from 'node:path';
import { startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AnimationFacts,
  type AnimationFrames,
  changesOf,
  fitted,
  type LinkFrames,
  linksOf,
  lpAt,
  ratesOf,
} from '../../../src/view/simulation/animation.ts';
import { unpack } from '../../../src/view/simulation/packed.ts';
import { fixture, temporaryFolder, triscope } from '../../cli/support/run.ts';
import { BEARER } from '../support/token.ts';

const RING = fixture('ring.ts');
const cwd = temporaryFolder();
const run = (...options: string[]) => triscope(['sim', 'run', RING, ...options], { cwd });

describe('an animated run', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    const { code } = await run('--pes=2', '--animate=6', '--record=ring');
    expect(code).toBe(0);
    server = await startServer({ recording: join(cwd, 'ring.tri') });
  });
  afterAll(() => server?.close());
  const get = (route: string) => fetch(new URL(`/api/${route}`, server.url), { headers: BEARER });

  it('has frames at even virtual times, places on the circle, and each line once', async () => {
    const facts = (await (await get('animation')).json()) as AnimationFacts;
    expect(facts.times).toEqual([4, 8, 12, 16, 20, 24]);
    expect(facts.fields).toEqual(['passed']);
    expect(facts.lps).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    facts.lps.forEach((lp) => {
      expect(facts.x[lp]).toBeCloseTo(Math.cos((lp * Math.PI) / 4), 12);
      expect(facts.y[lp]).toBeCloseTo(Math.sin((lp * Math.PI) / 4), 12);
    });
    expect(facts.links).toHaveLength(8);
    expect(facts.links).toContainEqual([0, 7]);
  });

  it('has the value of each LP in each frame: the token is at place t at time t', async () => {
    const { field, values } = unpack<AnimationFrames>(
      await (await get('animation/frames?field=passed')).arrayBuffer(),
    );
    expect(field).toBe('passed');
    const visits = (lp: number, time: number) => {
      let count = 0;
      for (let t = 1; t <= Math.min(time, 23); t++) if (t % 8 === lp) count++;
      return count;
    };
    const expected = [4, 8, 12, 16, 20, 24].flatMap((time) =>
      Array.from({ length: 8 }, (_, lp) => visits(lp, time)),
    );
    expect([...values]).toEqual(expected);
  });

  it('refuses a field that there is not', async () => {
    const answer = await get('animation/frames?field=virtual_time');
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('there is no field');
  });

  it('also records what --record records anyhow', async () => {
    const { out } = await triscope(
      ['query', 'ring.tri', 'SELECT count(*) > 0 AS some FROM ross_pe', '--csv'],
      { cwd },
    );
    expect(out).toBe('some\ntrue\n');
  });
});

describe('an animated network', () => {
  const END = 60;
  let server: Awaited<ReturnType<typeof startServer>>;
  let rows: readonly { lp: number; values: Record<string, number> }[] = [];
  beforeAll(async () => {
    const { code, out } = await triscope(
      [
        ...['sim', 'run', 'dragonfly', '--p=1', '--a=2', '--h=1', '--load=0.9', `--end=${END}`],
        ...['--pes=2', '--animate=6', '--record=net', '--json'],
      ],
      { cwd },
    );
    expect(code).toBe(0);
    rows = JSON.parse(out).results.rows.routers;
    server = await startServer({ recording: join(cwd, 'net.tri') });
  }, 60_000);
  afterAll(() => server?.close());
  const get = (route: string) => fetch(new URL(`/api/${route}`, server.url), { headers: BEARER });

  it('has each link in each frame: what it sent until the end is what the results say', async () => {
    const facts = (await (await get('animation')).json()) as AnimationFacts;
    expect(facts.fields).toEqual(['busy', 'queued', 'unreturned']);
    expect(facts.hasLinks).toBe(true);
    expect(facts.times).toEqual([10, 20, 30, 40, 50, 60]);
    // Terminals are drawn where there is something to say of them: here are routers only.
    expect(facts.lps).toEqual([0, 2, 4, 6, 8, 10]);
    const { from, to, link, values } = unpack<LinkFrames>(
      await (await get('animation/links?field=busy')).arrayBuffer(),
    );
    // Three groups of two routers, LPs 0 2, 4 6, 8 10; each router has a link in its group, one to another, one to its terminal.
    // The first router's goes to the next group, and there to the last router (link k comes back as link a h - 1 - k).
    const pairs = from.map((lp, k) => `${lp}.${link[k]} ${to[k]}`);
    expect(pairs.slice(0, 6)).toEqual(['0.0 2', '0.1 6', '0.2 1', '2.0 0', '2.1 8', '2.2 3']);
    expect(pairs).toHaveLength(18);
    for (const { lp: of, values: row } of rows) {
      const own = [0, 1].map((port) => {
        const k = from.findIndex((lp, n) => lp === of && link[n] === port);
        return values[k * 6 + 5] / END;
      });
      expect(Math.max(...own)).toBeCloseTo(row.busiestLink, 6);
      expect((own[0] + own[1]) / 2).toBeCloseTo(row.meanLink, 6);
    }
    expect(rows).toHaveLength(6);
    const rates = ratesOf(values, facts.times).filter((rate) => !Number.isNaN(rate));
    expect(rates).toHaveLength(18 * 5);
    expect(Math.min(...rates)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...rates)).toBeLessThanOrEqual(1.000001);
  });

  it('shows of an LP the greatest of its rows', async () => {
    const links = unpack<LinkFrames>(
      await (await get('animation/links?field=queued')).arrayBuffer(),
    );
    const { values } = unpack<AnimationFrames>(
      await (await get('animation/frames?field=queued')).arrayBuffer(),
    );
    const own = links.from.flatMap((lp, k) => (lp === 4 ? [links.values[k * 6 + 5]] : []));
    expect(own).toHaveLength(3);
    expect(values[5 * 6 + 2]).toBe(Math.max(...own));
  });
});

describe.concurrent('--animate is refused', () => {
  it.each([
    [['--animate=3'], 2, '--animate needs --record=NAME'],
    [['--animate=3', '--record=a', '--wrong=place'], 1, 'drawing.at() must give [x, y]'],
    [
      ['--animate=3', '--record=b', '--wrong=line'],
      1,
      'joins LP 0 with LP 8; there are LPs 0 to 7',
    ],
    [['--animate=3', '--record=c', '--stations=70000'], 2, 'draws at most 65536 LPs'],
  ])('%s', async (options, code, words) => {
    const ended = await run(...options);
    expect(ended.err).toContain(words);
    expect(ended.code).toBe(code);
  });

  it('for a model that records nothing of its own', async () => {
    const ended = await triscope(['sim', 'run', 'torus', '--animate=3', '--record=d'], { cwd });
    expect(ended.err).toContain("model 'torus' has no instrument with a sample");
    expect(ended.code).toBe(2);
  });
});

describe('the picture', () => {
  const grid = { x: [0, 1, 2, 0, 1, 2], y: [0, 0, 0, 1, 1, 1] };

  it('keeps the proportions, and every mark inside', () => {
    for (const [width, most] of [
      [600, 400],
      [300, 1000],
      [90, 70],
    ]) {
      const { x, y, radius, height } = fitted(grid, width, most);
      expect(height).toBeLessThanOrEqual(most);
      expect(x[1] - x[0]).toBeCloseTo(y[3] - y[0], 9);
      expect(Math.min(...x) - radius).toBeGreaterThanOrEqual(0);
      expect(Math.max(...x) + radius).toBeLessThanOrEqual(width);
      expect(Math.max(...y) + radius).toBeLessThanOrEqual(height);
      expect(2 * radius).toBeLessThanOrEqual(Math.max(4, x[1] - x[0]));
    }
  });

  it('finds the LP under the pointer', () => {
    const places = fitted(grid, 600, 400);
    expect(lpAt(places, places.x[4] + 3, places.y[4] - 3)).toBe(4);
    expect(lpAt(places, (places.x[0] + places.x[1]) / 2, places.y[0])).toBe(-1);
  });

  it('draws LPs that are all on one spot', () => {
    const { x, y, height } = fitted({ x: [5, 5], y: [7, 7] }, 200, 100);
    expect([...x, ...y].every(Number.isFinite)).toBe(true);
    expect(height).toBeGreaterThan(0);
  });

  it('has each line once, none of an LP with itself, none to LPs that are not drawn', () => {
    expect(
      linksOf(
        [
          [3, 5],
          [5, 3],
          [5, 5],
          [5, 9],
        ],
        [3, 5],
      ),
    ).toEqual([[0, 1]]);
  });

  it('shows growth per unit of time, none in the first frame', () => {
    const values = Float32Array.from([0, 4, 10, 1, 1, NaN]);
    expect([...ratesOf(values, [10, 12, 15])]).toEqual([NaN, 2, 2, NaN, 0, NaN]);
  });

  it('shows changes from frame to frame, none in the first', () => {
    expect([...changesOf(Float32Array.from([1, 2, 4, 1]), 2)]).toEqual([NaN, NaN, 3, -1]);
  });
});
