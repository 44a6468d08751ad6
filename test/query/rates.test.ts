import { openRecording } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { SIM_THREAD } from '../../src/model/schemas/sim.ts';
import { fresh, open } from './support/opened.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  type Values,
  writeFolder,
} from './support/recording.ts';

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

  it('do not depend on the order of rows in a file, in memory or read again', async () => {
    const rows = Array.from({ length: 2500 }, (_, k) => {
      const dip = k % 100 === 50 ? 10 : 0;
      return `\n${NOON + 10 * k} - c1\nnuma 0 ${1000 + 7 * k - dip} 5\nnuma 1 ${3 * k} 5\n`;
    });
    // A permutation, as 2500 and 7919 have no common divisor.
    const orders = [rows, rows.toReversed(), rows.map((_, k) => rows[(k * 7919) % 2500])];
    const found: unknown[] = [];
    for (const memory of ['512MiB', '1KB']) {
      for (const order of orders) {
        const path = writeFolder(fresh('c1'), { '1': header(50) + numa + order.join('') });
        const recording = await openRecording(path, { memory });
        found.push(
          await recording.query(
            `SELECT device, count(*) AS n, round(sum(numa_hit), 6) AS hits, min(numa_hit) AS least, max(numa_hit) AS most,
              round(sum(t * numa_hit), 3) AS moment FROM node_numa_rate GROUP BY device ORDER BY device`,
          ),
        );
        await recording.close();
      }
    }
    for (const one of found) expect(one).toEqual(found[0]);
    expect(found[0]).toMatchObject([
      { device: '0', n: 2499, least: 0 },
      { device: '1', n: 2499, least: 0.3, most: 0.3 },
    ]);
  });
});

describe('rates of PEs’ threads', () => {
  it('go by the same rule, PE by PE: a dip counts nothing, a reset is missing', async () => {
    const times = (pe: number, values: readonly bigint[]) =>
      values.map((cpu_time, k) => ({ real_time: k, pe_id: pe, cpu_time }));
    const rows = [
      ...times(0, [5_000_000n, 6_000_000n, 5_999_000n, 7_000_000n]),
      ...times(1, [9_000_000n, 9_500_000n, 1_000n, 2_000n]),
    ];
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(SIM_THREAD, rows)),
    });
    const recording = await open(path);
    const sql = 'SELECT pe_id, t0, t, cpu_time FROM sim_thread_rate ORDER BY pe_id, t';
    expect(await recording.query(sql)).toEqual([
      { pe_id: 0, t0: 0, t: 1, cpu_time: 1_000_000 },
      { pe_id: 0, t0: 1, t: 2, cpu_time: 0 },
      { pe_id: 0, t0: 2, t: 3, cpu_time: 1_000_000 },
      { pe_id: 1, t0: 0, t: 1, cpu_time: 500_000 },
      { pe_id: 1, t0: 1, t: 2, cpu_time: null },
      { pe_id: 1, t0: 2, t: 3, cpu_time: 1_000 },
    ]);
  });
});
