/** Recordings as SQL tables. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError, type OpenRecording, openRecording, QueryError } from 'triscope/query';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Schema } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { REGION_PHASE, SIM_THREAD } from '../../src/model/schemas/sim.ts';
import {
  batchOf,
  framesOf,
  NOON,
  nanoseconds,
  placeOf,
  rawStats,
  recordingOf,
  type Values,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: OpenRecording[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
async function open(path: string, ...more: string[]): Promise<OpenRecording> {
  const recording = await openRecording(path, ...more);
  opened.push(recording);
  return recording;
}
let made = 0;
const fresh = (name = 'run') => join(folder, `${++made}`, `${name}.tri`);

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

/** Two PEs, a sample each half second: PE 0 rolls back 10 of 100 events, PE 1 50 of 100. */
const samples = (seconds: number): Values[] =>
  Array.from({ length: seconds * 2 }, (_, k) => (k + 1) / 2).flatMap((real_time) =>
    [0, 1].map((pe_id) => ({
      pe_id,
      real_time,
      mode: 'gvt',
      events_processed: 100,
      events_rolled_back: pe_id === 0 ? 10 : 50,
      total_rollbacks: 5,
    })),
  );

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
    const batch = { schema: DEVICE, length: rows, columns };
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
    expect(await recording.query('SELECT file FROM suspect')).toEqual([{ file: 'extra.frames' }]);
    expect(recording.suspects[0].what).toMatch(/^its last \d+ bytes are not a whole frame/);
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
    const path = join(folder, `${++made}`);
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

describe('rates of counters', () => {
  const rates = async (values: readonly Values[]) => {
    const groups = values.map((value, k) => ({ time: NOON + 2 * k, cpus: [value] }));
    const path = writeFolder(fresh(), { 'node/h1/1': rawStats('h1', groups) });
    const recording = await open(path);
    return recording.query('SELECT t0, t, "user" FROM node_cpu_rate ORDER BY t');
  };

  it('are differences per second, exact at any size', async () => {
    const large = 2n ** 63n;
    expect(await rates([{ user: large }, { user: large + 3n }, { user: large + 4n }])).toEqual([
      { t0: 0, t: 2, user: 1.5 },
      { t0: 2, t: 4, user: 0.5 },
    ]);
  });

  it('go on over a rollover, and are missing where a counter went back', async () => {
    const end = 2n ** 64n;
    expect(await rates([{ user: end - 1n }, { user: 5n }, { user: 2n }, { user: 4n }])).toEqual([
      { t0: 0, t: 2, user: 3 },
      { t0: 2, t: 4, user: null },
      { t0: 4, t: 6, user: 1 },
    ]);
  });
});

describe('rates of raw stats', () => {
  /** Files of one host, each a text after the header. */
  const ratesOf = async (table: string, key: string, files: Readonly<Record<string, string>>) => {
    const path = writeFolder(fresh('c1'), files);
    const recording = await open(path);
    return recording.query(`SELECT t0, t, device, ${key} FROM ${table}_rate ORDER BY device, t`);
  };
  const numa = '!numa numa_hit,E local_node,E\n';
  const header = (uptime: number) => `$tacc_stats 2.3.5\n$hostname c1\n$uptime ${uptime}\n`;

  it('follow the repair rule: what fell a little counts nothing, and goes on from before', async () => {
    const values = [1000, 1100, 1092, 1110];
    const groups = values.map((v, k) => `\n${NOON + 10 * k} - c1\nnuma 0 ${v} ${v}\n`);
    const rates = await ratesOf('node_numa', 'numa_hit', {
      '1': header(50) + numa + groups.join(''),
    });
    expect(rates).toEqual([
      { t0: 0, t: 10, device: '0', numa_hit: 10 },
      { t0: 10, t: 20, device: '0', numa_hit: 0 },
      { t0: 20, t: 30, device: '0', numa_hit: 1 },
    ]);
  });

  it('roll over at the width that is known, and are missing where more is told than can be', async () => {
    const values = [2 ** 32 - 5, 5, 2 ** 31, 2 ** 31 + 20];
    const block = `!block rd_ticks,E,U=ms\n${values.map((v, k) => `\n${NOON + 10 * k} - c1\nblock sda ${v}\n`).join('')}`;
    expect(await ratesOf('node_block', 'rd_ticks', { '1': header(50) + block })).toEqual([
      { t0: 0, t: 10, device: 'sda', rd_ticks: 1 },
      { t0: 10, t: 20, device: 'sda', rd_ticks: null },
      // Two readings agree: the strange one was right.
      { t0: 20, t: 30, device: 'sda', rd_ticks: null },
    ]);
  });

  it('go on from file to file, are missing over a restart of the host, and never divide by 0', async () => {
    const at = (seconds: number, v: number) => `\n${NOON + seconds} - c1\nnuma 0 ${v} 0\n`;
    const rates = await ratesOf('node_numa', 'numa_hit', {
      '1': header(500) + numa + at(0, 100) + at(10, 200),
      '2': header(515) + numa + at(15, 210) + at(15, 220) + at(20, 270),
      // Started at 100: it counted from 0 to more than before.
      '3': header(40) + numa + at(140, 900) + at(150, 1000),
    });
    expect(rates).toEqual([
      { t0: 0, t: 10, device: '0', numa_hit: 10 },
      { t0: 10, t: 15, device: '0', numa_hit: 2 },
      { t0: 15, t: 20, device: '0', numa_hit: 12 },
      { t0: 20, t: 140, device: '0', numa_hit: null },
      { t0: 140, t: 150, device: '0', numa_hit: 10 },
    ]);
  });

  it('have the columns that each file has', async () => {
    const at = (seconds: number, ...v: number[]) =>
      `\n${NOON + seconds} - c1\nnuma 0 ${v.join(' ')}\n`;
    const rates = await ratesOf('node_numa', 'numa_hit, local_node', {
      '1': `${header(500)}!numa numa_hit,E\n${at(0, 10)}${at(1, 11)}`,
      '2': `${header(510)}!numa local_node,E numa_hit,E\n${at(10, 7, 20)}${at(11, 9, 23)}`,
    });
    expect(rates).toEqual([
      { t0: 0, t: 1, device: '0', numa_hit: 1, local_node: null },
      { t0: 10, t: 11, device: '0', numa_hit: 3, local_node: 2 },
    ]);
  });
});

describe('pe_on_node', () => {
  /** CPU 0 runs its PE all the time; half of CPU 1's time is stolen in the second second. */
  const cpus = [0, 1, 2].map((second) => ({
    time: NOON + second,
    cpus: [
      { user: 90 * second, system: 10 * second },
      {
        user: 90 * second - (second === 2 ? 50 : 0),
        system: 10 * second,
        steal: second === 2 ? 50 : 0,
      },
    ],
  }));

  it('joins each PE with its CPU over the same time', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(2))),
      'node/h1/1': rawStats('h1', cpus),
    });
    const recording = await open(path);
    const rows =
      await recording.query(`SELECT pe_id, host, cpu, round(t0, 3) AS t0, round(t, 3) AS t,
      round(events_per_s, 3) AS events_per_s, rolled_back, round(efficiency, 6) AS efficiency, "user", system, steal, idle
      FROM pe_on_node ORDER BY ALL`);
    const common = { host: 'h1', events_per_s: 200, idle: 0, system: expect.closeTo(0.1, 6) };
    const good = {
      rolled_back: expect.closeTo(0.1, 6),
      efficiency: expect.closeTo(100 * (1 - 20 / 180), 4),
    };
    const bad = { rolled_back: expect.closeTo(0.5, 6), efficiency: 0 };
    const all = { user: expect.closeTo(0.9, 6), steal: 0 };
    expect(rows).toEqual([
      { ...common, ...good, ...all, pe_id: 0, cpu: 0, t0: 0, t: 1 },
      { ...common, ...good, ...all, pe_id: 0, cpu: 0, t0: 1, t: 2 },
      { ...common, ...bad, ...all, pe_id: 1, cpu: 1, t0: 0, t: 1 },
      {
        ...common,
        ...bad,
        pe_id: 1,
        cpu: 1,
        t0: 1,
        t: 2,
        user: expect.closeTo(0.4, 6),
        steal: expect.closeTo(0.5, 6),
      },
    ]);
  });

  it('shares samples that lie across windows, and counts none twice', async () => {
    const times = [0.7, 1.6, 2.2, 2.9];
    const rows = times.map((real_time) => ({
      pe_id: 0,
      real_time,
      mode: 'rt',
      events_processed: 90,
    }));
    // Fewer samples of the other mode: the same events, counted again.
    const again = { pe_id: 0, real_time: 2.9, mode: 'gvt', events_processed: 360 };
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, [...rows, again])),
      'node/h1/1': rawStats(
        'h1',
        [0, 1, 2, 3].map((second) => ({ time: NOON + second, cpus: [{ user: 100 * second }] })),
      ),
    });
    const recording = await open(path);
    const found = await recording.query<{ events: number; seconds: number }>(
      'SELECT events_processed AS events, seconds FROM pe_on_node WHERE pe_id = 0 ORDER BY t',
    );
    const second = 90 * (1 / 3);
    expect(found.map(({ events }) => events)).toEqual([
      expect.closeTo(90 + second, 3),
      expect.closeTo(60 + 60, 3),
      expect.closeTo(30 + 90, 3),
    ]);
    expect(found.map(({ seconds }) => seconds)).toEqual([
      expect.closeTo(1, 5),
      expect.closeTo(1, 5),
      expect.closeTo(0.9, 5),
    ]);
  });

  it('tells how long a PE’s thread ran and waited, and what others took of its CPU', async () => {
    const second = 1_000_000_000n;
    const threads = [0n, 1n, 2n].flatMap((k) => [
      { pe_id: 0, real_time: Number(k), cpu_time: 5n * second + k * second, run_queue_wait: 7n },
      {
        pe_id: 1,
        real_time: Number(k),
        cpu_time: (k * second * 3n) / 4n,
        run_queue_wait: (k * second) / 4n,
      },
    ]);
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(2)), batchOf(SIM_THREAD, threads)),
      'node/h1/1': rawStats(
        'h1',
        [0, 1, 2].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }, { user: 100 * s }] })),
      ),
    });
    const recording = await open(path);
    const found = await recording.query(
      'SELECT pe_id, round(running, 4) AS running, round(waiting, 4) AS waiting, round(others, 4) AS others FROM pe_on_node ORDER BY pe_id, t',
    );
    const [free, shared] = [
      { pe_id: 0, running: 1, waiting: 0, others: 0 },
      { pe_id: 1, running: 0.75, waiting: 0.25, others: 0.25 },
    ];
    expect(found).toEqual([free, free, shared, shared]);
  });

  it('tells the frequency, the context switches and the region that a PE was in', async () => {
    const steps = [0, 1, 2];
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ pes: [placeOf({ pe: 0, cpu: 0 })] }),
      'extra.frames': framesOf(
        batchOf(ROSS_PE, samples(2)),
        batchOf(
          SIM_THREAD,
          steps.map((s) => ({ pe_id: 0, real_time: s, timeslices: BigInt(7 + 40 * s) })),
        ),
        batchOf(
          REGION_PHASE,
          steps.flatMap((s) => [
            { pe_id: 0, real_time: s, region: 'gvt', time: s === 2 ? 0.8 : 0.1 * s },
            { pe_id: 0, real_time: s, region: 'commit', time: 0.05 * s },
          ]),
        ),
      ),
      'node/h1/1': rawStats(
        'h1',
        steps.map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }] })),
      ),
      'app.trace-h1': [
        '# geopm_version: 3.1.0',
        '# start_time: 2026-03-01T12:00:00.000000000+0000',
        '# node_name: h1',
        'TIME|CPU_FREQUENCY_STATUS',
        ...['0.25|1e9', '0.75|2e9', '1.5|3e9', ''],
      ].join('\n'),
    });
    const recording = await open(path);
    const number = (value: number) => expect.closeTo(value, 4);
    expect(
      await recording.query(
        'SELECT frequency, context_switches, region, in_gvt, in_commit FROM pe_on_node ORDER BY t',
      ),
    ).toEqual([
      {
        ...{ frequency: 1.5e9, context_switches: number(40), region: 'events' },
        ...{ in_gvt: number(0.1), in_commit: number(0.05) },
      },
      {
        ...{ frequency: 3e9, context_switches: number(40), region: 'gvt' },
        ...{ in_gvt: number(0.7), in_commit: number(0.05) },
      },
    ]);
  });

  it('takes the mean of the host’s CPUs for PEs that were not bound', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ pes: [placeOf({ pe: 0 })] }),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(2))),
      'node/h1/1': rawStats('h1.example.org', cpus),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT cpu, steal, others FROM pe_on_node ORDER BY t')).toEqual([
      { cpu: null, steal: 0, others: null },
      { cpu: null, steal: 0.25, others: null },
    ]);
  });

  it('works from the threads alone where there are no node counters', async () => {
    const threads = [0, 1, 2].map((k) => ({
      pe_id: 0,
      real_time: k,
      cpu_time: BigInt(k) * 10n ** 9n,
    }));
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(2)), batchOf(SIM_THREAD, threads)),
    });
    const recording = await open(path);
    expect(
      await recording.query('SELECT pe_id, round(running, 6) AS running, "user" FROM pe_on_node'),
    ).toEqual([
      { pe_id: 0, running: 1, user: null },
      { pe_id: 0, running: 1, user: null },
    ]);
  });
});

const GOLDEN = process.env.TRISCOPE_GOLDEN;

describe.skipIf(!GOLDEN)('files of ROSS (needs TRISCOPE_GOLDEN)', () => {
  const run = join(GOLDEN ?? '', 'ross', 'm-opt2-everything');
  const totals = `SELECT mode, count(*) AS records, sum(events_processed) AS processed,
    sum(events_rolled_back) AS rolled_back FROM ross_pe GROUP BY mode ORDER BY mode`;

  it('are tables, with the numbers of their manifest', async () => {
    const { files } = JSON.parse(readFileSync(join(run, 'manifest.json'), 'utf8'));
    const expected = Object.entries({ gvt: 'gvt', rt: 'rt', vt: 'analysis-lps' }).map(
      ([mode, name]) => {
        const { records, PE_sums: sums } = files[`run1-${name}.bin`].facts;
        return { mode, records, processed: sums.nproc, rolled_back: sums.nrb };
      },
    );
    const recording = await open(run);
    expect(await recording.query(totals)).toEqual(expected);
    const { records, sum_src } = files['run1-evtrace.bin'].facts;
    expect(
      await recording.query('SELECT count(*) AS n, sum(source_lp) AS sum_src FROM ross_event'),
    ).toEqual([{ n: records, sum_src }]);
  });

  it('give way to frames, which hold the same in double precision', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
      'stats-output/run1-gvt.bin': readFileSync(join(run, 'run1-gvt.bin')),
      'stats-output/run1-evtrace.bin': readFileSync(join(run, 'run1-evtrace.bin')),
    });
    const recording = await open(path);
    expect(await recording.query(totals)).toEqual([
      { mode: 'gvt', records: 4, processed: 400, rolled_back: 120 },
    ]);
    expect(await recording.query('SELECT count(*) AS n FROM ross_event')).toEqual([{ n: 1645 }]);
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

describe('several recordings', () => {
  it('are schemas by their names; the first is meant without one', async () => {
    const [a, b] = [1, 2].map((seconds) =>
      writeFolder(fresh(), {
        'recording.json': recordingOf(),
        'extra.frames': framesOf(batchOf(ROSS_PE, samples(seconds))),
      }),
    );
    const recording = await open(a, b);
    expect(recording.names).toEqual(['run', 'run_2']);
    expect(
      await recording.query(`SELECT (SELECT count(*) FROM ross_pe) AS plain,
        (SELECT count(*) FROM run.ross_pe) AS a, (SELECT count(*) FROM run_2.ross_pe) AS b`),
    ).toEqual([{ plain: 4, a: 4, b: 8 }]);
  });
});

describe('a query', () => {
  let recording: OpenRecording;
  const opening = async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
    });
    recording = await open(path);
    return path;
  };
  const refused = async (sql: string): Promise<string> => {
    const error = await recording.query(sql).then(
      () => new Error(`${sql}: was allowed`),
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(QueryError);
    expect(error.message).not.toContain('\n');
    return error.message;
  };

  it('that is wrong gives one line that helps', async () => {
    await opening();
    expect(await refused('SELECT * FROM ros_pe')).toMatch(
      /^there is no table ros_pe at line 1, column 15; did you mean ross_pe\? tables: clocks, entities, /,
    );
    expect(await refused('SELECT event_processed FROM ross_pe')).toMatch(
      /^there is no column event_processed at line 1, column 8; did you mean .*events_processed/,
    );
    expect(await refused('SELEC 1')).toBe(
      'SQL: syntax error at or near "SELEC" at line 1, column 1',
    );
    expect(await refused('SELECT 1,\n  2,\n  sqrrt(3)')).toMatch(/sqrrt.* at line 3, column 3$/);
    const long = `SELECT ${'pe_id + '.repeat(50)}nothing FROM ross_pe`;
    expect(await refused(long)).toMatch(
      new RegExp(`^there is no column nothing at line 1, column ${long.indexOf('nothing') + 1}`),
    );
    expect(await refused("SELECT 'a'::INTEGER")).toMatch(/^SQL: Could not convert string 'a'/);
    expect(await refused('SELECT 1; SELECT 2')).toBe('one query at a time: there are 2 statements');
    expect(await refused('')).toBe('an empty query');
  });
});

describe('what cannot be opened', () => {
  const message = (path: string) =>
    openRecording(path).then(
      () => 'opened',
      (error: Error) => `${error instanceof InputError} ${error.message}`,
    );

  it('is named with the reason', async () => {
    expect(await message('/nowhere/at.tri')).toBe(
      'true /nowhere/at.tri: there is no such file or folder',
    );
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    expect(await message(empty)).toMatch(
      /^true .*empty: no file here is of a format that can be queried$/,
    );
    const bad = writeFolder(fresh(), { 'recording.json': '{"version": 1' });
    expect(await message(bad)).toMatch(/^true .*recording\.json: not JSON: /);
    const newer = writeFolder(fresh(), { 'recording.json': '{"version": 99}' });
    expect(await message(newer)).toMatch(
      /has version 99; this triscope reads up to 1: use a newer one$/,
    );
    const text = join(folder, 'text.txt');
    writeFileSync(text, 'hello');
    expect(await message(text)).toMatch(/^true .*text\.txt: no file here/);
  });
});
