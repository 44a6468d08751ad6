import { describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { REGION_PHASE, SIM_THREAD } from '../../src/model/schemas/sim.ts';
import { fresh, open, samples } from './support/opened.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

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

  it('counts a PE’s first events over the time since it began, not over its set-up', async () => {
    const { sources } = recordingOf();
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ sources: [{ ...sources[0], began: 0.5 }] }),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(2))),
      'node/h1/1': rawStats('h1', cpus),
    });
    const rows = await (await open(path)).query(
      'SELECT t0, t, seconds, events_per_s FROM pe_on_node WHERE pe_id = 0 ORDER BY t',
    );
    expect(rows).toEqual([
      { t0: 0, t: 1, seconds: expect.closeTo(0.5, 6), events_per_s: expect.closeTo(400, 3) },
      { t0: 1, t: 2, seconds: 1, events_per_s: 200 },
    ]);
  });

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
