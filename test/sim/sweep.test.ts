/** `sweep`: what is varied, seeds, intervals, and a file to go on from. */
import '../support/small-machine.ts';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parquetReadObjects } from 'hyparquet';
import {
  type LoadedModel,
  loadModel,
  type SweepOptions,
  sweep,
  sweepPage,
  writeSweepParquet,
} from 'triscope/sim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareOf } from '../../src/cli/commands/sim-sweep.ts';
import { MODEL_SEEDS, seedStream } from '../../src/sim/rng/clcg4.ts';
import { meanInterval } from '../../src/sim/sweep/interval.ts';
import { parseMeasure, valuesOf } from '../../src/sim/sweep/measure.ts';
import { settingsOf } from '../../src/sim/sweep/sweep.ts';
import { parseVary, pointsOf } from '../../src/sim/sweep/vary.ts';
import { Dice } from '../../src/sim/transport/chaos.ts';

const folder = mkdtempSync(join(tmpdir(), 'sweep-'));
const fixture = fileURLToPath(new URL('../../examples/servers.ts', import.meta.url));
let servers: LoadedModel;
beforeAll(async () => {
  servers = await loadModel(fixture);
});
afterAll(() => {
  servers.dispose();
  rmSync(folder, { recursive: true });
});

describe('intervals', () => {
  it('of 5, 6 and 10, by hand', () => {
    // Mean 7, squares 4 + 1 + 9 = 14, sd √7, t 4.302653: 7 ± 4.302653 √(7 / 3).
    const { mean, sd, low, high } = meanInterval([5, 6, 10]);
    expect([mean, sd]).toEqual([7, Math.sqrt(7)]);
    expect(low).toBeCloseTo(0.427585, 5);
    expect(high).toBeCloseTo(13.572415, 5);
    expect(meanInterval([3])).toEqual({ n: 1, mean: 3, sd: null, low: null, high: null });
  });

  it('of 95 % cover the mean in 94 to 96 % of 5,000 cases', () => {
    const dice = new Dice(1, 1);
    const normal = () =>
      Math.sqrt(-2 * Math.log(1 - dice.uniform())) * Math.cos(2 * Math.PI * dice.uniform());
    let covered = 0;
    for (let k = 0; k < 5000; k++) {
      const { low, high } = meanInterval(Array.from({ length: 2 + (k % 19) }, () => 3 + normal()));
      if ((low ?? 9) <= 3 && 3 <= (high ?? 0)) covered++;
    }
    expect(covered / 5000).toBeGreaterThan(0.94);
    expect(covered / 5000).toBeLessThan(0.96);
  });
});

describe('what is varied', () => {
  const vary = (text: string) => parseVary(text, servers.model).values;
  it.each([
    ['servers=1..4', [1, 2, 3, 4]],
    ['servers=1,3..5,3', [1, 3, 4, 5]],
    ['load=0.1..0.5:0.2', [0.1, 0.3, 0.5]],
    ['end=1e3,2000', [1000, 2000]],
  ])('%s', (text, values) => expect(vary(text)).toEqual(values));

  it.each([
    ['servers', 'use NAME=VALUE,…'],
    ['server=1', "server is not an option of model 'servers'; did you mean servers?"],
    ['load=0.5,high', "'high' is not a number"],
    ['servers=8..1', 'a range goes up'],
    ['load=0..1:0', 'a range goes up'],
  ])('%s is refused', (text, message) => expect(() => vary(text)).toThrow(message));

  it('makes every combination', () => {
    const points = pointsOf(
      ['servers=1,2', 'load=0.5,0.6'].map((t) => parseVary(t, servers.model)),
    );
    expect(points).toEqual([
      { servers: 1, load: 0.5 },
      { servers: 1, load: 0.6 },
      { servers: 2, load: 0.5 },
      { servers: 2, load: 0.6 },
    ]);
    expect(pointsOf([])).toEqual([{}]);
  });

  it('and seeds: replication r begins 2^24 r streams further, at each point', () => {
    const [none, third] = [0, 3].map((r) => settingsOf({}, { servers: 2 }, r).seeds);
    const stream = new Float64Array(4);
    seedStream(stream, 0, MODEL_SEEDS, 3 * 2 ** 24);
    expect(none).toEqual(MODEL_SEEDS);
    expect(third).toEqual([...stream]);
    expect(settingsOf({}, { servers: 3 }, 3).seeds).toEqual(third);
  });
});

describe('measures', () => {
  const results = { totals: { area: 6, time: 4 }, maxima: { longest: 9 } };
  it('are totals, maxima and quotients', () => {
    const values = (...texts: string[]) => valuesOf(results, texts.map(parseMeasure));
    expect(values()).toEqual({ area: 6, time: 4, longest: 9 });
    expect(values('mean=area/time', 'longest', 'a=area')).toEqual({ mean: 1.5, longest: 9, a: 6 });
    expect(() => values('ara')).toThrow('the model reports no ara; did you mean area?');
    expect(() => parseMeasure('a=b/c/d')).toThrow('use NAME, NAME=A or NAME=A/B');
  });
});

describe('a Slurm array', () => {
  const task = (id: number) => ({
    SLURM_ARRAY_TASK_ID: String(id),
    SLURM_ARRAY_TASK_COUNT: '3',
    SLURM_ARRAY_TASK_MIN: '2',
    SLURM_ARRAY_TASK_STEP: '4',
  });
  it('gives each task its share', () => {
    expect([2, 6, 10].map((id) => shareOf(undefined, task(id)))).toEqual(
      [0, 1, 2].map((index) => ({ index, of: 3 })),
    );
    expect(shareOf('2/4', task(2))).toEqual({ index: 1, of: 4 });
    expect(shareOf(undefined, {})).toBeUndefined();
    expect(() => shareOf('5/4', {})).toThrow('use K/N');
  });
});

/** Erlang's C: the probability that all k servers are busy, at this load of each. */
function waitProbability(k: number, load: number): number {
  const offered = k * load;
  let term = 1;
  let sum = 0;
  for (let n = 0; n < k; n++) {
    sum += term;
    term *= offered / (n + 1);
  }
  const all = term / (1 - load);
  return all / (sum + all);
}

describe('a sweep', () => {
  const options: SweepOptions = {
    vary: [{ name: 'servers', values: [1, 3] }],
    measures: ['waiting=waiting.mean', 'busy=busy.mean', 'wait=late.mean'].map(parseMeasure),
    replications: 8,
    jobs: 2,
  };

  it('agrees with Erlang’s formulas', async () => {
    const { points, complete, method } = await sweep(servers, { options: { load: 0.6 } }, options);
    expect([complete, method]).toEqual([true, 'independent replications, Student’s t']);
    for (const { point, measures, replications } of points) {
      const k = Number(point.servers);
      const wait = waitProbability(k, 0.6);
      const expected = { busy: k * 0.6, wait, waiting: (wait * 0.6) / 0.4 };
      expect(replications).toBe(8);
      for (const [name, value] of Object.entries(expected)) {
        const { low, high, mean } = measures[name];
        expect(low, name).toBeLessThan(value);
        expect(high, name).toBeGreaterThan(value);
        expect(Math.abs(mean / value - 1), name).toBeLessThan(0.1);
      }
    }
  });

  const short = { end: 60, warmup: 0 };
  const small = { ...options, replications: 3 };
  const counted = async (more: Partial<SweepOptions>, settings = short) => {
    let runs = 0;
    const onRun = () => {
      runs++;
    };
    return { ...(await sweep(servers, settings, { ...small, ...more, onRun })), begun: runs };
  };

  it('is typed by what is varied and measured, drawn as a page, and a table of runs', async () => {
    const file = join(folder, 'runs.parquet');
    const result = await sweep(pathToFileURL(fixture), short, {
      vary: [
        { name: 'servers', values: [1, 2] },
        { name: 'load', values: [0.3, 0.5] },
      ],
      measures: { busy: 'busy.mean', '<b>': 'waiting.mean/busy.mean' },
      replications: 2,
      jobs: 2,
    }).catch((error: Error) => error.message);
    // A name is a word.
    expect(result).toContain('--measure=<b>=waiting.mean/busy.mean: use NAME');
    const typed = await sweep(fixture, short, {
      vary: [
        { name: 'servers', values: [1, 2] },
        { name: 'load', values: [0.3, 0.5] },
      ],
      measures: { busy: 'busy.mean', share: 'waiting.mean/busy.mean' },
      replications: 2,
      jobs: 2,
    });
    const [{ point, measures }] = typed.points;
    expect([point.servers, point.load, measures.busy.n]).toEqual([1, 0.3, 2]);
    // @ts-expect-error: nothing of that name is varied
    expect([point.servres, measures.share.n]).toEqual([undefined, 2]);

    const page = sweepPage(typed);
    // Two measures by two factors; in each two curves of two points.
    expect(page.match(/<svg viewBox[^>]*role="img"/g)).toHaveLength(4);
    expect(page.match(/class="interval/g)).toHaveLength(16);
    expect(page).toContain('by servers');
    expect(page).toContain('load=0.5');
    expect(page).not.toMatch(/<script|https?:/);

    await writeSweepParquet(typed, file, { busy: 'busy.mean' });
    const buffer = readFileSync(file);
    const rows = await parquetReadObjects({
      file: buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength),
    });
    expect(rows).toHaveLength(8);
    expect(Object.keys(rows[0])).toEqual([
      ...['servers', 'load', 'replication', 'busy', 'net_events', 'seconds'],
    ]);
    const busy = rows.filter((row) => Number(row.servers) === 1 && row.load === 0.3);
    const mean = busy.reduce((sum, row) => sum + Number(row.busy), 0) / busy.length;
    expect(mean).toBeCloseTo(measures.busy.mean, 12);
    await expect(writeSweepParquet(typed, join(folder, 'no', 'x'))).rejects.toThrow(
      'cannot be written',
    );
  });

  it('goes on from its file, a torn line included', async () => {
    const file = join(folder, 'a.jsonl');
    const all = await counted({});
    const first = await counted({ file });
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, -20));
    const again = await counted({ file });
    expect([first.begun, again.begun, (await counted({ file })).begun]).toEqual([6, 1, 0]);
    expect(again.points).toEqual(all.points);
    expect(readFileSync(file, 'utf8').split('\n').sort()).toEqual(
      expect.arrayContaining(text.split('\n').slice(0, 6).sort()),
    );
    await expect(counted({ file }, { ...short, end: 50 })).rejects.toThrow('of other settings');
    appendFileSync(file, 'what is this\n');
    await expect(counted({ file })).rejects.toThrow('a.jsonl:8: is not a line of a sweep');
  });

  it('in shares, beside one file', async () => {
    const file = join(folder, 'b.jsonl');
    const [one, two] = [
      await counted({ file, share: { index: 0, of: 2 } }),
      await counted({ file, share: { index: 1, of: 2 } }),
    ];
    expect([one.begun, two.begun, one.complete, two.complete]).toEqual([3, 3, false, true]);
    expect(readdirSync(folder).filter((name) => name.startsWith('b.'))).toEqual([
      'b.0.jsonl',
      'b.1.jsonl',
    ]);
    const whole = await counted({ file });
    expect(whole.begun).toBe(0);
    expect(whole.points).toEqual((await counted({})).points);
  });

  it('runs until intervals are narrow enough, whatever the number at once', async () => {
    const until = {
      untilWidth: 0.2,
      mostReplications: 30,
      measures: [parseMeasure('busy=busy.mean')],
    };
    const [one, two] = [await counted({ ...until, jobs: 1 }), await counted({ ...until, jobs: 3 })];
    expect(one.points).toEqual(two.points);
    expect(one.complete).toBe(true);
    for (const { replications, measures } of one.points) {
      const { mean, high } = measures.busy;
      expect(((high ?? 0) - mean) / mean).toBeLessThanOrEqual(0.2);
      expect(replications).toBeLessThan(30);
    }
  });

  it('ends where it is told to, and where a run fails', async () => {
    const controller = new AbortController();
    const ended = await sweep(servers, short, {
      ...small,
      replications: 50,
      signal: controller.signal,
      onRun: () => controller.abort(),
    });
    expect(ended.complete).toBe(false);
    expect(ended.runs.length).toBeGreaterThan(0);
    await expect(counted({ measures: [parseMeasure('queue')] })).rejects.toThrow(
      '--measure: the model reports no queue; there are',
    );
    await expect(counted({ vary: [{ name: 'load', values: [0.5, 1.5] }] })).rejects.toThrow(
      '--load=1.5',
    );
  });
});
