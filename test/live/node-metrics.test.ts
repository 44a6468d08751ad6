/** The node collector's last sample as OpenMetrics. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { alertsOf, alertsText } from '../../src/live/alerts.ts';
import { type NodeMetrics, serveNodeMetrics } from '../../src/live/metrics.ts';
import type { MetricsOptions } from '../../src/live/metrics-http.ts';
import { NodeText, seriesFor } from '../../src/live/node-text.ts';
import { NODE_TYPES } from '../../src/node/types/index.ts';

const HEADER = `$tacc_stats 2.3.5
$hostname n1
$uname Linux
$uptime 5
!cpu user,E,U=cs
!mem MemFree,U=KB
!ib port_rcv_data,E,U=4B,W=32
`;
const group = (second: number, user: number, free = '') =>
  `\n${second}.500000 - n1\ncpu 0 ${user}\n${free}ib mlx4_0.1 5\n`;

let metrics: NodeMetrics | undefined;
afterEach(async () => {
  await metrics?.close();
  metrics = undefined;
});

async function serve(options: Partial<MetricsOptions> = {}): Promise<NodeMetrics> {
  metrics = await serveNodeMetrics({ port: 0, ...options });
  return metrics;
}

function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; type: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      let body = '';
      response.on('data', (data) => {
        body += data;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body,
          type: response.headers['content-type'] ?? '',
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

describe('metrics of the node', () => {
  it('have base units; counters end in _total, and all text in # EOF', async () => {
    const { url, write } = await serve();
    write(Buffer.from(HEADER + group(100, 1234, 'mem 0 8\n')), { host: 'n1' });
    const answer = () => get(url);
    await expect.poll(async () => (await answer()).body).toContain('samples_total{host="n1"} 1');
    const { body, type, status } = await answer();
    expect(status).toBe(200);
    expect(type).toContain('application/openmetrics-text');
    const lines = body.split('\n');
    expect(lines).toContain('triscope_node_cpu_user_seconds_total{host="n1",device="0"} 12.34');
    expect(lines).toContain('# TYPE triscope_node_cpu_user_seconds counter');
    expect(lines).toContain('triscope_node_mem_memfree_bytes{host="n1",device="0"} 8192');
    expect(lines).toContain(
      'triscope_node_ib_port_rcv_data_bytes_total{host="n1",device="mlx4_0.1"} 20',
    );
    expect(lines).toContain('triscope_node_sample_time_seconds{host="n1"} 100.5');
    expect(body.endsWith('# EOF\n')).toBe(true);
  });

  it('have help, each: that of its key, where the type is one of ours', async () => {
    const { url, write } = await serve();
    write(Buffer.from(HEADER + group(100, 1234, 'mem 0 8\n')), { host: 'n1' });
    await expect.poll(async () => (await get(url)).body).toContain('_memfree_');
    const lines = (await get(url)).body.split('\n');
    const { metrics: cpu } = NODE_TYPES.find(({ name }) => name === 'cpu') ?? { metrics: [] };
    const help = cpu.find(({ key }) => key === 'user')?.help ?? '';
    expect(help).not.toBe('');
    expect(lines).toContain(`# HELP triscope_node_cpu_user_seconds ${help}`);
    const families = lines.filter((line) => line.startsWith('# TYPE '));
    expect(families.length).toBe(8);
    for (const family of families) {
      const name = family.split(' ')[2];
      expect(lines.find((line) => line.startsWith(`# HELP ${name} `))).toMatch(/ .{5,}$/);
    }
  });

  it('are those of the last sample: a device that is gone has no series', async () => {
    const text = new NodeText();
    text.write(Buffer.from(HEADER + group(100, 1, 'mem 0 8\n')), { host: 'n1' });
    await text.metrics();
    text.write(Buffer.from(group(101, 300)), { host: 'n1', lost: 4, missed: 2, waiting: 7 });
    const told = await text.metrics();
    expect(told).toContain('triscope_node_cpu_user_seconds_total{host="n1",device="0"} 3\n');
    expect(told).not.toContain('triscope_node_mem_memfree_bytes{');
    expect(told).toContain('triscope_node_samples_total{host="n1"} 2\n');
    expect(told).toContain('triscope_node_samples_lost_total{host="n1"} 4\n');
    expect(told).toContain('triscope_node_samples_missed_total{host="n1"} 2\n');
    expect(told).toContain('triscope_node_samples_waiting{host="n1"} 7\n');
  });

  it('are given to who asks this host by name, at /metrics alone', async () => {
    const { url } = await serve();
    expect((await get(url)).status).toBe(200);
    expect((await get(url.replace('/metrics', '/other'))).status).toBe(404);
    expect((await get(url, { host: 'evil.example' })).status).toBe(403);
    expect((await get(url, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await get(url, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', 'c401.example'],
  ])(
    'on %s take a token that is given, which the URL then does not tell',
    async (address, host) => {
      const { url, port } = await serve({ address, token: 'secret' });
      expect(url).not.toContain('secret');
      const as = async (authorization: string) =>
        (await get(`http://127.0.0.1:${port}/metrics`, { host, authorization })).status;
      expect([await as('Bearer wrong'), await as(''), await as('Bearer secret')]).toEqual([
        401, 401, 200,
      ]);
    },
  );

  it('need the token on other addresses than loopback', async () => {
    const { url, port } = await serve({ address: '0.0.0.0' });
    const token = new URL(url).searchParams.get('token') ?? '';
    expect(token.length).toBeGreaterThan(40);
    const at = async (query: string, authorization = '') =>
      (await get(`http://127.0.0.1:${port}/metrics${query}`, { authorization })).status;
    expect(await at(`?token=${token}`)).toBe(200);
    expect(await at('?token=wrong')).toBe(401);
    expect(await at('')).toBe(401);
    expect(await at('', `Bearer ${token}`)).toBe(200);
  });

  it.each([
    [['127.0.0.1'], 200],
    [['10.1.0.0/16', '127.0.0.0/8'], 200],
    [['10.1.0.0/16', '::1'], 401],
    [['127.0.0.2/31'], 401],
  ])('are given to addresses %j: %d', async (allowed, status) => {
    const { url, port } = await serve({ address: '0.0.0.0', allowed });
    expect(url).not.toContain('token');
    expect((await get(`http://127.0.0.1:${port}/metrics`)).status).toBe(status);
  });

  it.each(['10.1.0.0/33', 'nowhere', '10.1.0.0/', '1.2.3.4/8/8', ''])(
    'are not given to %j, which is no address',
    async (one) => {
      await expect(serve({ address: '0.0.0.0', allowed: [one] })).rejects.toThrow(
        'is neither an address',
      );
    },
  );

  it('names follow from type, key and unit', () => {
    const key = (name: string, unit: string, kind: 'event' | 'gauge') => ({
      name,
      unit,
      kind,
      bits: 64,
    });
    expect(seriesFor('net', key('rx_bytes', 'B', 'event')).name).toBe(
      'triscope_node_net_rx_bytes_total',
    );
    expect(seriesFor('block', key('rd_ticks', 'ms', 'event'))).toMatchObject({
      name: 'triscope_node_block_rd_ticks_seconds_total',
      factor: 0.001,
    });
    // Files have hundredths: 1078 is a load of 10.78.
    expect(seriesFor('ps', key('load_1', '', 'gauge'))).toMatchObject({
      name: 'triscope_node_ps_load_1',
      factor: 0.01,
    });
  });
});

describe('alerts', () => {
  const served = async () => {
    const text = new NodeText();
    const types = [
      ...['cpu', 'cpu_steal', 'llite', 'mem', 'vm', 'psi', 'cgroup_cpu', 'cgroup_memory'],
      ...['hwmon_temp', 'nvidia_gpu_state', 'nvidia_gpu_ecc', 'nfs4'],
      ...['intel_gpu_state', 'amd_gpu_state', 'amd_gpu_throttle', 'amd_gpu_ecc', 'powercap_limit'],
    ];
    const own = NODE_TYPES.filter(({ name }) => types.includes(name));
    const keyOf = ({ key, kind, unit }: (typeof own)[number]['metrics'][number]) =>
      `${key}${kind === 'event' ? ',E' : ''}${unit === '' ? '' : `,U=${unit}`}`;
    const schemas = own.map(({ name, metrics: keys }) => `!${name} ${keys.map(keyOf).join(' ')}\n`);
    const records = own.map(({ name, metrics: keys }) => `${name} 0${' 1'.repeat(keys.length)}\n`);
    const file = `$hostname n1\n${schemas.join('')}\n100 -\n${records.join('')}`;
    text.write(Buffer.from(file), { host: 'n1' });
    return new Set(
      [...(await text.metrics()).matchAll(/^(triscope_\w+)\{/gm)].map(([, name]) => name),
    );
  };

  it('ask for series that a daemon serves, with thresholds of findings', async () => {
    const there = await served();
    const alerts = alertsOf('1800s', 7200);
    const asked = alerts.flatMap(({ expr }) => expr.match(/triscope_\w+/g) ?? []);
    expect(asked.filter((name) => !there.has(name))).toEqual([]);
    const swap = alerts.filter(({ labels }) => labels.finding === 'swap');
    expect(swap.map(({ expr, labels }) => [labels.severity, expr.split(' >= ')[1]])).toEqual([
      ['notice', '1'],
      ['problem', '100'],
    ]);
    expect(alerts.find(({ labels }) => labels.finding === 'node-memory')?.expr).toBe(
      '(sum by (host) (triscope_node_mem_memused_bytes) - sum by (host) (triscope_node_mem_slab_bytes) - sum by (host) (triscope_node_mem_filepages_bytes)) / (sum by (host) (triscope_node_mem_memtotal_bytes)) >= 0.9',
    );
  });

  it.skipIf(spawnSync('promtool', ['--version']).error !== undefined)(
    'are rules that promtool takes, and that fire',
    () => {
      const place = mkdtempSync(join(tmpdir(), 'triscope-alerts-'));
      writeFileSync(join(place, 'rules.yml'), alertsText(alertsOf('1800s', 7200)));
      const { stdout, status } = spawnSync(
        'promtool',
        ['check', 'rules', join(place, 'rules.yml')],
        { encoding: 'utf8' },
      );
      expect({ stdout, status }).toMatchObject({
        stdout: expect.stringContaining('26 rules found'),
        status: 0,
      });
      const pages = (key: string, step: number) => ({
        series: `triscope_node_vm_${key}_total{host="n1",device="-"}`,
        values: `0+${step}x9`,
      });
      /** Of two hosts: one beyond a threshold of each rule, one short of it. */
      const pair = (name: string, beyond: string, short: string) => [
        { series: `triscope_node_${name}{host="n1",device="7"}`, values: beyond },
        { series: `triscope_node_${name}{host="n2",device="7"}`, values: short },
      ];
      const inCard = ({ series, values }: { series: string; values: string }) => ({
        series: series.replace('device="7"', 'device="8"'),
        values,
      });
      const inOther = ({ series, values }: { series: string; values: string }) => ({
        series: series.replace('device="7"', 'device="9"'),
        values,
      });
      const more = [
        ...pair('psi_memory_full_seconds_total', '0+61x9', '0+59x9'),
        ...pair('psi_io_full_seconds_total', '0+181x9', '0+59x9'),
        ...pair('cgroup_memory_oom_kill_total', '0x5 1x9', '0x14'),
        ...pair('cgroup_cpu_nr_periods_total', '0+1000x9', '0+1000x9'),
        ...pair('cgroup_cpu_nr_throttled_total', '0+51x9', '0+49x9'),
        ...pair('nvidia_gpu_state_held_by_heat', '1x9', '0x9'),
        ...pair('nvidia_gpu_state_held_by_hardware', '0x9', '0x9'),
        ...pair('nvidia_gpu_ecc_uncorrected_total', '0x5 1x9', '5x14'),
        ...pair('amd_gpu_ecc_uncorrected_total', '0x5 1x9', '5x14').map(inCard),
        ...pair('amd_gpu_state_held_by_heat', '0x9', '0x9').map(inOther),
        ...pair('amd_gpu_state_held_by_hardware', '0x9', '0x9').map(inOther),
        // Of 600 turns a minute 61 and 59; other reasons less.
        ...pair('amd_gpu_throttle_ticks_total', '0+6000x9', '0+6000x9').map(inOther),
        ...pair('amd_gpu_throttle_by_signal_total', '0x9', '0x9').map(inOther),
        ...pair('amd_gpu_throttle_by_socket_heat_total', '0+610x9', '0+590x9').map(inOther),
        ...pair('amd_gpu_throttle_by_regulator_heat_total', '0+5x9', '0x9').map(inOther),
        ...pair('amd_gpu_throttle_by_memory_heat_total', '0+300x9', '0+300x9').map(inOther),
        ...pair('intel_gpu_state_held_by_heat', '0x9', '0x9').map(inCard),
        ...pair('intel_gpu_state_held_by_hardware', '1 0 0 0 1 0 0 0 1', '0x9').map(inCard),
        // 141 and 134 W of 150; a limit that nobody has lowered, reached.
        ...pair('powercap_limit_energy_joules_total', '0+84600x9', '0+80400x9'),
        ...pair('powercap_limit_limit_watts', '150x9', '150x9'),
        ...pair('powercap_limit_nominal_watts', '205x9', '205x9'),
        ...pair('powercap_limit_energy_joules_total', '0+123000x9', '0+123000x9').map(inCard),
        ...pair('powercap_limit_limit_watts', '205x9', '205x9').map(inCard),
        ...pair('powercap_limit_nominal_watts', '205x9', '205x9').map(inCard),
        ...pair('hwmon_temp_temp_celsius', '96x9', '94x9'),
        // 100 reads in each 10 minutes, of 60 ms and of 40.
        ...['write', 'commit', 'open', 'lookup', 'getattr'].flatMap((name) =>
          ['ops', 'rtt_seconds'].flatMap((what) =>
            pair(`nfs4_${name}_${what}_total`, '0x9', '0x9'),
          ),
        ),
        ...pair('nfs4_read_ops_total', '0+100x9', '0+100x9'),
        ...pair('nfs4_read_rtt_seconds_total', '0+6x9', '0+4x9'),
      ];
      const fired = [
        ['host-memory-pressure', 'notice'],
        ['host-io-pressure', 'notice'],
        ['host-io-pressure', 'problem'],
        ['out-of-memory', 'problem'],
        ['job-quota', 'notice'],
        ['gpu-throttled', 'notice', 2],
        ['gpu-throttled', 'problem'],
        ['gpu-errors', 'problem', 2],
        ['temperature', 'notice'],
        ['slow-nfs', 'notice'],
        ['power-limit', 'notice'],
      ];
      const test = {
        rule_files: ['rules.yml'],
        evaluation_interval: '10m',
        tests: [
          {
            interval: '10m',
            input_series: [pages('pswpin', 1200), pages('pswpout', 600)],
            promql_expr_test: [
              {
                expr: 'count(ALERTS{alertname="TriscopeSwap"}) by (host, finding, severity)',
                eval_time: '80m',
                exp_samples: [{ labels: `{finding="swap",host="n1",severity="notice"}`, value: 1 }],
              },
            ],
          },
          {
            interval: '10m',
            input_series: more,
            promql_expr_test: [
              {
                expr: 'count(ALERTS) by (host, finding, severity)',
                eval_time: '80m',
                exp_samples: fired.map(([finding, severity, value = 1]) => ({
                  labels: `{finding="${finding}",host="n1",severity="${severity}"}`,
                  value,
                })),
              },
            ],
          },
        ],
      };
      writeFileSync(join(place, 'test.json'), JSON.stringify(test));
      const ran = spawnSync('promtool', ['test', 'rules', join(place, 'test.json')], {
        encoding: 'utf8',
      });
      rmSync(place, { recursive: true });
      expect({ status: ran.status, out: ran.stderr + ran.stdout }).toMatchObject({
        status: 0,
      });
    },
  );
});
