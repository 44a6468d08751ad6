/** Recordings as SQL tables: types, times, facts. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Schema } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { fresh, freshFolder, open, samples } from './support/opened.ts';
import {
  batchOf,
  framesOf,
  NOON,
  nanoseconds,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const DEVICE: Schema = {
  name: 'device_stats',
  domain: 'device',
  help: 'all kinds of cells',
  metrics: (['u32', 'i32', 'u64', 'f32', 'f64', 'label'] as const).map((cell) => ({
    key: `a_${cell}`,
    cell,
    kind: 'gauge',
    behaviour: 'variable',
    form: 'total',
    unit: '',
    over: 'last',
    help: `a ${cell}`,
  })),
};

describe('a table of frames', () => {
  it('has true types, and null for missing', async () => {
    const rows = [
      {
        a_u32: 2 ** 32 - 1,
        a_i32: -5,
        a_u64: 2n ** 64n - 1n,
        a_f32: 0.5,
        a_f64: 1 / 3,
        a_label: 'x',
      },
      { a_u32: 7, a_i32: 5, a_u64: 12n },
      { a_u32: 8, a_i32: 6, a_u64: 13n, a_f32: 2, a_f64: Number.NaN, a_label: 'it’s "y", \'z\'' },
    ];
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(DEVICE, rows)),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT * FROM device_stats ORDER BY a_u32 DESC')).toEqual([
      { ...rows[0], a_u64: 2n ** 64n - 1n },
      { a_u32: 8, a_i32: 6, a_u64: 13, a_f32: 2, a_f64: null, a_label: 'it’s "y", \'z\'' },
      { a_u32: 7, a_i32: 5, a_u64: 12, a_f32: null, a_f64: null, a_label: null },
    ]);
    const { columns } = await recording.rows('SELECT * FROM device_stats');
    expect(columns.map(({ type }) => type)).toEqual([
      'UINTEGER',
      'INTEGER',
      'UBIGINT',
      'FLOAT',
      'DOUBLE',
      'VARCHAR',
    ]);
    expect(
      await recording.query("SELECT count(*) AS n FROM device_stats WHERE a_label = 'nobody'"),
    ).toEqual([{ n: 0 }]);
  });

  it('of many rows gives all of them, any columns, in blocks', async () => {
    const rows = 100_000;
    const path = fresh();
    const columns = DEVICE.metrics.map(({ cell }) => {
      const values = Array.from({ length: rows }, (_, k) => k);
      if (cell === 'label') return values.map((k) => `label ${k % 7}`);
      if (cell === 'u64') return BigUint64Array.from(values, BigInt);
      if (cell === 'f32') return Float32Array.from(values, (k) => (k % 3 === 0 ? Number.NaN : k));
      return { u32: Uint32Array, i32: Int32Array, f64: Float64Array }[cell].from(values);
    });
    const batch = { schema: DEVICE, rows, columns };
    writeFolder(path, { 'recording.json': recordingOf(), 'extra.frames': framesOf(batch, batch) });
    const recording = await open(path);
    const [sums] =
      await recording.query(`SELECT sum(a_u32) AS u, sum(a_f64) AS f, count(a_f32) AS n,
      count(DISTINCT a_label) AS labels, count(*) AS rows FROM device_stats`);
    const sum = rows * (rows - 1);
    expect(sums).toEqual({ u: sum, f: sum, n: 2 * 66_666, labels: 7, rows: 2 * rows });
    const { blocks } = await recording.rows('SELECT a_i32, a_label FROM device_stats');
    let seen = 0;
    for await (const block of blocks) {
      expect(block[0]).toEqual([seen % rows, `label ${(seen % rows) % 7}`]);
      seen += block.length;
    }
    expect(seen).toBe(2 * rows);
  });

  it('can be left early, and asked by several at once', async () => {
    const rows = Array.from({ length: 20_000 }, (_, k) => ({ a_u32: k }));
    const path = writeFolder(fresh(), { 'a.frames': framesOf(batchOf(DEVICE, rows)) });
    const recording = await open(path);
    const { blocks } = await recording.rows('SELECT a_u32 FROM device_stats');
    for await (const _ of blocks) break;
    const counts = [1, 2, 3].map((k) =>
      recording.query(`SELECT count(*) AS n FROM device_stats WHERE a_u32 % 3 = ${k % 3}`),
    );
    expect((await Promise.all(counts)).flat()).toEqual([{ n: 6667 }, { n: 6666 }, { n: 6667 }]);
  });

  it('that a stopped writer left tells what is not whole, and gives the rest', async () => {
    const frames = framesOf(batchOf(ROSS_PE, samples(1)), batchOf(ROSS_PE, samples(1)));
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ state: 'running' }),
      'extra.frames': frames.subarray(0, -9),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT count(*) AS n FROM ross_pe')).toEqual([{ n: 4 }]);
    expect(await recording.query('SELECT file FROM suspect ORDER BY ALL')).toEqual([
      { file: 'extra.frames' },
      { file: 'recording.json' },
    ]);
    expect(recording.suspects.find(({ file }) => file === 'extra.frames')?.what).toMatch(
      /^byte \d+: its last \d+ bytes are not a whole frame/,
    );
  });
});

describe('one timeline', () => {
  it('is made of sources that began at different times', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        sources: [
          {
            name: 'sim',
            files: [{ path: 'extra.frames', format: 'frames' }],
            zero: nanoseconds(NOON + 2.5),
            droppedBytes: 0,
          },
          {
            name: 'node',
            files: [{ path: 'node/h1/1772366400', format: 'tacc' }],
            zero: nanoseconds(NOON + 1),
            droppedBytes: 7,
          },
        ],
      }),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
      'node/h1/1772366400': rawStats('h1', [
        { time: NOON + 1, cpus: [{ user: 100 }] },
        { time: NOON + 3.25, cpus: [{ user: 150 }] },
      ]),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT DISTINCT t, real_time FROM ross_pe ORDER BY t')).toEqual([
      { t: 2, real_time: 0.5 },
      { t: 2.5, real_time: 1 },
    ]);
    const cpu = await recording.query<{ t: number; user: number }>('SELECT * FROM node_cpu');
    expect(cpu[1]).toMatchObject({ host: 'h1', device: '0', user: 150, time: NOON + 3.25 });
    expect(cpu.map(({ t }) => t)).toEqual([expect.closeTo(0, 5), expect.closeTo(2.25, 5)]);
    expect(await recording.query('SELECT name, state, dropped_bytes FROM recording')).toEqual([
      { name: 'run', state: 'finished', dropped_bytes: 7 },
    ]);
  });

  it('of loose files begins with the first wall-clock time', async () => {
    const path = freshFolder();
    writeFolder(path, {
      stats: rawStats(
        'c1',
        [5, 6].map((s) => ({ time: NOON + s, cpus: [{ user: s }] })),
      ),
    });
    const recording = await open(join(path, 'stats'));
    expect(await recording.query('SELECT t, "user" FROM node_cpu')).toEqual([
      { t: 0, user: 5 },
      { t: 1, user: 6 },
    ]);
  });
});

describe('facts', () => {
  it('say where PEs ran and what each column is', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        pes: [placeOf({ pe: 0, cpu: 3, threadId: 99 }), placeOf({ pe: 1 })],
      }),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT * FROM pes')).toEqual([
      { pe: 0, rank: 0, host: 'h1', cpu: 3, thread_id: 99 },
      { pe: 1, rank: 0, host: 'h1', cpu: null, thread_id: null },
    ]);
    expect(await recording.query('SELECT * FROM entities ORDER BY domain, id')).toEqual([
      { domain: 'cpu', id: 0, name: 'h1:3', parent_domain: 'host', parent: 0 },
      { domain: 'host', id: 0, name: 'h1', parent_domain: null, parent: null },
      { domain: 'pe', id: 0, name: 'PE 0', parent_domain: 'cpu', parent: 0 },
      { domain: 'pe', id: 1, name: 'PE 1', parent_domain: 'host', parent: 0 },
    ]);
    expect(
      await recording.query("SELECT * FROM metrics WHERE column_name = 'events_processed'"),
    ).toEqual([
      {
        ...{ table_name: 'ross_pe', column_name: 'events_processed', type: 'UINTEGER' },
        ...{ kind: 'event', behaviour: 'variable', form: 'change', unit: '{event}', bits: null },
        ...{ combine: 'sum', help: 'events handled, those rolled back later included' },
      },
    ]);
  });
});

describe('comments on columns', () => {
  it('have unit and help, in each recording', async () => {
    const paths = [1, 2].map(() =>
      writeFolder(fresh(), {
        'recording.json': recordingOf(),
        'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
      }),
    );
    const recording = await open(paths[0], paths[1]);
    const comments = `SELECT schema_name AS run, column_name AS name, comment FROM duckdb_columns()
      WHERE table_name = 'ross_pe' AND schema_name != 'main' AND column_name IN ('gvt_time', 'pe_id') ORDER BY ALL`;
    expect(await recording.query(comments)).toEqual(
      ['run', 'run_2'].flatMap((run) => [
        { run, name: 'gvt_time', comment: 's: computing GVT' },
        { run, name: 'pe_id', comment: 'PE' },
      ]),
    );
  });
});
