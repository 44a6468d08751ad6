/** Checkpoints: a run that goes on from any of them is the whole run, whatever PEs and synchroniser it goes on with. */
import '../support/small-machine.ts';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  defineModel,
  type LoadedModel,
  loadModel,
  type RunOptions,
  type RunResult,
  type Settings,
  simulate,
} from 'triscope/sim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointTimes, nextTime } from '../../src/sim/checkpoint/times.ts';
import { Dice } from '../../src/sim/transport/chaos.ts';
import { smallRun } from './support/chaos-models.ts';

const folder = mkdtempSync(join(tmpdir(), 'triscope-checkpoint-'));
const file = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const WAYS: readonly Settings[] = [
  { synch: 'sequential', pes: 1 },
  { synch: 'optimistic', pes: 3 },
  { synch: 'conservative', pes: 2 },
  { synch: 'sequential', pes: 1 },
];
const TENTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Without what the random models keep outside of their state, which no checkpoint has. */
const rowsOf = ({ results: { rows, ...others } }: RunResult) => ({
  ...others,
  rows: Object.values(rows)
    .flat()
    .map(({ lp, values: { commits, ...values } }) => ({ lp, values })),
});

/** All that does not depend on PEs, synchroniser and time. */
const told = (run: RunResult) => ({
  finished: run.finished,
  netEvents: run.netEvents,
  eventsPastEnd: run.eventsPastEnd,
  criticalPath: run.criticalPath,
  eventDigest: run.eventDigest,
  stateDigest: run.stateDigest,
  stoppedAt: run.stoppedAt,
  results: rowsOf(run),
});

/** Runs, and tells what was printed. */
async function printing(model: LoadedModel | string, settings: Settings, run: RunOptions = {}) {
  const lines: string[] = [];
  const result = await simulate(model, settings, {
    ...run,
    onOutput: (some) => lines.push(...some.map(({ text }) => text)),
  });
  return { result, lines };
}

const random = (name: string) => fileURLToPath(new URL(`support/${name}.ts`, import.meta.url));

describe('a run from a checkpoint is the whole run', () => {
  let model: LoadedModel;
  const settings = {
    end: 20,
    lookahead: 0.25,
    maxMemory: 2 ** 23,
    options: { lps: 16, grid: 0.25, print: 0.2, depth: 4, zero: 0.5, urgent: 0.3, timer: 0.4 },
  };
  beforeAll(async () => {
    model = await loadModel(random('random-hooked'));
  });
  afterAll(() => model.dispose());

  it('from each tenth of it, on one PE', async () => {
    const whole = await printing(model, settings);
    // Results, statistics, hooks, lines, ties, priorities and zero offsets: all there.
    expect(whole.result.netEvents).toBeGreaterThan(1000);
    expect(whole.lines.length).toBeGreaterThan(100);
    const at = TENTHS.map((k) => 2 * k);
    const first = await printing(model, settings, {
      checkpoint: {
        file: file('tenth'),
        at,
        onWritten: ({ time }) => copyFileSync(file('tenth'), file(`tenth.${time}`)),
      },
    });
    expect(told(first.result)).toEqual(told(whole.result));
    expect(first.result.checkpoint).toMatchObject({ time: 18, error: null });
    for (const time of at) {
      const again = await printing(model, {}, { restart: file(`tenth.${time}`) });
      expect([time, told(again.result)]).toEqual([time, told(whole.result)]);
      expect(again.result.eventTies).toBe(whole.result.eventTies);
      expect(again.result.restartedAt).toBe(time);
      // What it prints is the rest, after as many lines as the file says.
      expect(again.lines).toEqual(whole.lines.slice(whole.lines.length - again.lines.length));
      const head = readFileSync(file(`tenth.${time}`)).toString('latin1');
      const before = Number(/"lines":(\d+)/.exec(head)?.[1]);
      expect(before + again.lines.length).toBe(whole.lines.length);
    }
  });

  it('sequential, on three threads, conservative on two, and sequential again', async () => {
    const whole = await printing(model, settings);
    let restart: string | undefined;
    for (const [k, way] of WAYS.entries()) {
      const next = file(`way.${k}`);
      const { result } = await simulate(model, k === 0 ? { ...settings, ...way } : way, {
        ...(restart !== undefined && { restart }),
        checkpoint: { file: next, at: [4 * (k + 1)] },
        sizedFor: 1,
      }).then((result) => ({ result }));
      expect([way, told(result)]).toEqual([way, told(whole.result)]);
      expect(result.checkpoint).toMatchObject({ file: next, time: 4 * (k + 1), error: null });
      restart = next;
    }
  });

  it.each([3, 11, 19, 62])('of seed %i, written and read in any way', async (seed) => {
    const { model: path, settings: small } = smallRun(seed);
    const dice = new Dice(seed, 77);
    const one = await loadModel(path);
    try {
      const whole = await simulate(one, { ...small, synch: 'sequential', maxMemory: 2 ** 22 });
      const end = whole.config.end;
      const written = file(`seed.${seed}`);
      const ways: readonly Settings[] = [
        { synch: 'optimistic', pes: 2, nkp: dice.of([1, 4]), batch: dice.of([1, 16, 300]) },
        { synch: 'rollback-check' },
        { synch: 'optimistic-debug' },
        { synch: 'optimistic', pes: 1 },
      ];
      const checkpoint = { file: written, every: end * dice.of([0.1, 0.3, 0.7]) };
      for (const way of ways) {
        const run = await simulate(
          one,
          { ...small, ...way, maxMemory: 2 ** 22 },
          { checkpoint, sizedFor: 1, chaos: { seed } },
        );
        expect([way, told(run)]).toEqual([way, told(whole)]);
        if (run.checkpoint?.time === null) continue;
        const again = await simulate(one, { maxMemory: 2 ** 22 }, { restart: written });
        expect([way, told(again)]).toEqual([way, told(whole)]);
      }
    } finally {
      one.dispose();
    }
  });
});

describe('files that no run can go on from', () => {
  const ping = (fields: 'u32' | 'f64', lps = 4) =>
    defineModel({
      name: 'ping',
      lps: () => lps,
      end: 10,
      state: { count: fields },
      message: {},
      init: (lp) => void lp.send(lp.id, 1),
      forward: (lp) => void lp.send(lp.id, 1),
    });
  const good = file('good');
  const refused = (path: string, settings: Settings = {}, model = ping('u32')) =>
    simulate(model, settings, { restart: path }).then(
      () => 'nothing',
      (error: Error & { exitCode: number }) => `${error.exitCode} ${error.message}`,
    );
  beforeAll(async () => {
    await simulate(ping('u32'), {}, { checkpoint: { file: good, at: [5] } });
  });

  it('are refused in one line: cut off, changed, of another kind, missing', async () => {
    const bytes = readFileSync(good);
    const bad = (name: string, content: Uint8Array) => {
      writeFileSync(file(name), content);
      return refused(file(name));
    };
    expect(await refused(good)).toBe('nothing');
    expect(await bad('cut', bytes.subarray(0, 300))).toBe(
      `3 ${file('cut')}: has 300 of ${bytes.length} bytes: it was cut off, take an older one`,
    );
    expect(await bad('short', bytes.subarray(0, 20))).toMatch(/has 20 bytes: it was cut off/);
    const flipped = Buffer.from(bytes);
    flipped[flipped.length - 50] ^= 1;
    expect(await bad('flipped', flipped)).toMatch(/do not match their checksum/);
    expect(await bad('text', Buffer.from('hello, this is no checkpoint'))).toBe(
      `3 ${file('text')}: is not a checkpoint`,
    );
    const newer = Buffer.from(bytes);
    newer.write('2', 14, 'latin1');
    expect(await bad('newer', newer)).toMatch(/of format 2, this Triscope reads format 1$/);
    expect(await refused(file('nowhere'))).toMatch(/^3 .*nowhere: cannot be read: ENOENT/);
  });

  it('are refused with another model or other settings', async () => {
    expect(await refused(good, { end: 20 })).toBe(
      `2 --end=20: the checkpoint ${good} is of a run with 10; leave --end out`,
    );
    expect(await refused(good, { end: 10, pes: 1 })).toBe('nothing');
    expect(await refused(good, { seeds: [1, 2, 3, 4] })).toMatch(/^2 --rng-seed1…4=1 2 3 4: /);
    expect(await refused(good, {}, ping('f64'))).toMatch(/fields of the messages or states/);
    expect(await refused(good, {}, ping('u32', 5))).toMatch(/has 4 LPs, the model now 5/);
    await expect(simulate('phold', {}, { restart: good })).rejects.toThrow(
      `${good}: is a checkpoint of the model 'ping', not of 'phold'`,
    );
  });

  it('are not begun where they cannot be written, or never reached', async () => {
    const run = (checkpoint: RunOptions['checkpoint']) =>
      simulate(ping('u32'), {}, checkpoint === undefined ? {} : { checkpoint });
    await expect(run({ file: '/nowhere/x' })).rejects.toThrow(
      /^--checkpoint=\/nowhere\/x: cannot be written: ENOENT/,
    );
    await expect(run({ file: good, at: [10] })).rejects.toThrow(
      '--checkpoint-at=10: must be after 0 and before --end=10',
    );
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});

describe('times of checkpoints', () => {
  it('are those asked for, or tenths of the end', () => {
    expect(checkpointTimes({}, 50)).toEqual({ every: 5 });
    expect(nextTime({ every: 0.1 }, 0.3)).toBeGreaterThan(0.3);
    let time = 0;
    for (let k = 1; k <= 1000; k++) {
      time = nextTime({ every: 0.1 }, time);
      expect(time).toBe(k * 0.1);
    }
    expect(nextTime({ every: 4, at: [3, 9] }, 0)).toBe(3);
    expect(nextTime({ at: [3, 9] }, 9)).toBe(Infinity);
  });
});
