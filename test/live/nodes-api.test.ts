/** What the API tells of hosts and jobs, on an archive of 64 hosts with known faults. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobListFacts, JobPageFacts } from '../../src/view/facts/jobs.ts';
import type { DevicePage, SuspectSpans } from '../../src/view/facts/nodes.ts';
import { triscope } from '../cli/support/run.ts';
import { ask, json, refusal } from './support/ask.ts';
import { cluster, GROUPS, ODD, RATE, SLOW, WRAPPED } from './support/cluster.ts';

const HOSTS = 64;
const PERIOD = 600;
const archive = cluster(HOSTS);
let server: LiveServer;
beforeAll(async () => {
  server = await startServer({ recording: archive });
});
afterAll(() => server.close());

const get = <T>(path: string) => json<T>(server.port, `/api/${path}`);
interface Series {
  readonly unit: string;
  readonly entities: readonly { entity: string; min: (number | null)[]; mean: (number | null)[] }[];
}
/** The archive begins two hours before job 7, with job 8. */
const ZERO = 7200;
const END = ZERO + (GROUPS - 1) * PERIOD;
const window = `from=${ZERO}&to=${END}`;

describe('jobs', () => {
  it('are none where a file is served that is no archive', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'nodes-api-')), 'app.trace');
    writeFileSync(path, '# geopm_version: 3.1.0\nTIME|CPU_ENERGY\n0.5|1\n1|2\n');
    const one = await startServer({ recording: path });
    const { available } = await json<JobListFacts>(one.port, '/api/jobs');
    await one.close();
    expect(available).toBe(false);
  });

  it('are listed with what the accounting file beside the hosts tells', async () => {
    const { jobs, total, columns } = await get<JobListFacts>('jobs');
    expect(total).toBe(2);
    const facts = jobs.map(({ id, user, queue, state, hosts, from, to, flags }) => ({
      ...{ id, user, queue, state, hosts, from, to, flags },
    }));
    expect(facts).toEqual([
      {
        id: '8',
        user: 'bob',
        queue: 'debug',
        state: 'FAILED',
        hosts: 2,
        from: 0,
        to: 1800,
        flags: null,
      },
      {
        id: '7',
        user: 'ada',
        queue: 'normal',
        state: 'COMPLETED',
        hosts: HOSTS,
        from: ZERO,
        to: END,
        flags: null,
      },
    ]);
    expect(columns).toContain('avg_cpi');
  });

  it('are found by a condition over fields and metrics', async () => {
    const where = encodeURIComponent("avg_cpuusage > 1 AND hosts > 4 AND queue = 'normal'");
    const { jobs, total } = await get<JobListFacts>(`jobs?where=${where}`);
    expect([total, jobs.map(({ id }) => id)]).toEqual([2, ['7']]);
    expect(jobs[0].flags).toContain('low-cpu');
    for (const wrong of [
      'nothing > 1',
      '1); DROP TABLE jobs; --',
      "read_text('/etc/passwd') > ''",
    ]) {
      const { status } = await ask(server.port, `/api/jobs?where=${encodeURIComponent(wrong)}`);
      expect(status).toBe(400);
    }
  });

  it('have the page that `node job --json` prints', async () => {
    const page = await get<JobPageFacts>('job?job=7');
    const { out } = await triscope([
      ...[
        'node',
        'job',
        '7',
        '--archive',
        archive,
        '--accounting',
        `${archive}/accounting`,
        '--json',
      ],
    ]);
    const printed = JSON.parse(out) as JobPageFacts;
    for (const part of ['metrics', 'flags', 'balance', 'repairs', 'notes', 'oddities'] as const) {
      expect(page[part]).toEqual(printed[part]);
    }
    expect(page.span).toEqual([ZERO, END]);
    expect(page.gauges.find(({ name }) => name === 'balance')).toMatchObject({ grade: 'poor' });
    expect(page.gauges.find(({ name }) => name === 'balance')?.words).toContain(SLOW);
    expect(page.tracks.map(({ id }) => id)).toContain('track:cpu');
  });

  it('and the time without one are shown together as *', async () => {
    const page = await get<JobPageFacts>('job');
    expect([page.id, page.span]).toEqual(['*', [0, END]]);
  });

  it('that are not there are said so, with those that are', async () => {
    const { status, error } = await refusal(server.port, '/api/job?job=9');
    expect([status, error]).toEqual([400, expect.stringContaining('its jobs are')]);
  });
});

describe('hosts in time', () => {
  it('are as in SQL: rates of a host are those of node_net_rate', async () => {
    const { entities } = await get<Series>(
      `nodes/series?job=7&metric=net.rx_bytes&${window}&bins=30`,
    );
    expect(entities.length).toBe(HOSTS);
    const tables = await openRecording(archive);
    const rows = await tables.query<{ host: string; rate: number }>(
      `SELECT host, sum(rx_bytes * (t - t0)) / sum(t - t0) AS rate FROM node_net_rate WHERE t0 >= ${ZERO} GROUP BY 1`,
    );
    await tables.close();
    for (const { host, rate } of rows) {
      const own = entities.find(({ entity }) => entity === host);
      const there = (own?.mean ?? []).filter((value) => value !== null);
      expect(there.reduce((sum, value) => sum + value, 0) / there.length).toBeCloseTo(rate, 1);
    }
  });

  it('count a rollover as what it counted, and hatch it with the reason', async () => {
    const asked = `job=7&metric=net.rx_bytes`;
    const { entities } = await get<Series>(
      `nodes/series?${asked}&${window}&bins=30&hosts=${WRAPPED}`,
    );
    expect(entities[0].mean.every((value) => Math.abs((value ?? 0) - RATE) < 1)).toBe(true);
    const { spans } = await get<SuspectSpans>(`nodes/suspects?${asked}`);
    const own = spans.filter(({ host }) => host === WRAPPED);
    expect(own).toEqual([
      {
        host: WRAPPED,
        from: ZERO + 5 * PERIOD,
        to: ZERO + 6 * PERIOD,
        what: 'net.rx_bytes of eth0: rolled over; repaired',
      },
    ]);
  });

  it('hatch torn lines and groups of other hosts', async () => {
    const { spans } = await get<SuspectSpans>('nodes/suspects?job=7&metric=track:cpu');
    const own = spans.filter(({ host }) => host === ODD);
    expect(own.map(({ from, to }) => [from, to])).toEqual([
      [ZERO + 9 * PERIOD, ZERO + 10 * PERIOD],
      [ZERO + 14 * PERIOD, ZERO + 15 * PERIOD],
    ]);
    expect(own[0].what).toContain('broken');
    expect(own[1].what).toContain('c099.example: left out');
  });

  it('show the slow host, and nothing where nothing was measured', async () => {
    const path = `nodes/series?job=7&metric=track:cpu&from=0&to=${END}&bins=42`;
    const { entities, unit } = await get<Series>(path);
    expect(unit).toBe('cores');
    const cores = (host: string) => entities.find(({ entity }) => entity === host)?.mean ?? [];
    // 600 s a bin: the twelve before the job are empty.
    expect(cores(SLOW).slice(0, 12)).toEqual(new Array(12).fill(null));
    expect(cores(SLOW)[13]).toBeCloseTo(0.8, 2);
    expect(cores(WRAPPED)[13]).toBeCloseTo(3.6, 2);
  });
});

describe('devices', () => {
  it('have totals as exact digits, and rates', async () => {
    const page = await get<DevicePage>(`nodes/devices?job=7&type=net&hosts=${WRAPPED}`);
    expect(page.keys.map(({ name, unit, repairs }) => [name, unit, repairs])).toEqual([
      ['rx_bytes', 'B', '1 wrapped'],
      ['tx_bytes', 'B', ''],
    ]);
    expect(page.keys[0].help).toBe('received');
    expect(page.rows.map(({ device, totals, rates }) => [device, totals[0], rates[0]])).toEqual([
      ['all', String((GROUPS - 1) * PERIOD * RATE), RATE],
      ['eth0', String((GROUPS - 1) * PERIOD * RATE), RATE],
    ]);
  });

  it('of all types and hosts are there, gauges with least and most', async () => {
    const { types } = await get<JobPageFacts>('job?job=7');
    expect(types.map(({ type, devices, hosts }) => [type, devices, hosts])).toEqual([
      ['cpu', 4 * HOSTS, HOSTS],
      ['mem', HOSTS, HOSTS],
      ['net', HOSTS, HOSTS],
    ]);
    const { rows, keys } = await get<DevicePage>('nodes/devices?job=7&type=mem');
    const used = keys.findIndex(({ name }) => name === 'MemUsed');
    expect(rows[0].least[used]).toBe(8 * 2 ** 30);
    expect(rows[0].most[used]).toBe((8 * 2 ** 20 + (GROUPS - 1) * 1000) * 1024);
  });

  it.each([
    ['nodes/devices?type=none', 'no records of type none'],
    ['nodes/series?metric=none.x', 'no metric "none.x"'],
    ['nodes/series?metric=track:cpu&from=5&to=1', 'from before to'],
    ['nodes/suspects?metric=', 'no metric ""'],
  ])('refuse %s', async (path, words) => {
    const { status, error } = await refusal(server.port, `/api/${path}`);
    expect([status, error]).toEqual([400, expect.stringContaining(words)]);
  });
});
