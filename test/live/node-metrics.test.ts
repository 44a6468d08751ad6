/** The node collector's last sample as OpenMetrics. */
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { NodeMetrics, seriesFor } from '../../src/live/node-metrics.ts';

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

const write = (text: string) => metrics?.write(Buffer.from(text), { host: 'n1' });

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
    metrics = await NodeMetrics.serve({ port: 0, help: (type, key) => `help of ${type}.${key}` });
    write(HEADER + group(100, 1234, 'mem 0 8\n'));
    const { body, type, status } = await get(metrics.url);
    expect(status).toBe(200);
    expect(type).toContain('application/openmetrics-text');
    const lines = body.split('\n');
    expect(lines).toContain('triscope_node_cpu_user_seconds_total{host="n1",device="0"} 12.34');
    expect(lines).toContain('# TYPE triscope_node_cpu_user_seconds counter');
    expect(lines).toContain('# HELP triscope_node_cpu_user_seconds help of cpu.user');
    expect(lines).toContain('triscope_node_mem_memfree_bytes{host="n1",device="0"} 8192');
    expect(lines).toContain(
      'triscope_node_ib_port_rcv_data_bytes_total{host="n1",device="mlx4_0.1"} 20',
    );
    expect(lines).toContain('triscope_node_sample_time_seconds{host="n1"} 100.5');
    expect(body.endsWith('# EOF\n')).toBe(true);
  });

  it('are those of the last sample: a device that is gone has no series', async () => {
    metrics = await NodeMetrics.serve({ port: 0 });
    write(HEADER + group(100, 1, 'mem 0 8\n'));
    await metrics.text();
    write(group(101, 300));
    const text = await metrics.text();
    expect(text).toContain('triscope_node_cpu_user_seconds_total{host="n1",device="0"} 3\n');
    expect(text).not.toContain('triscope_node_mem_memfree_bytes{');
    expect(text).toContain('triscope_node_samples_total{host="n1"} 2\n');
  });

  it('are given to who asks this host by name, at /metrics alone', async () => {
    metrics = await NodeMetrics.serve({ port: 0 });
    expect((await get(metrics.url.replace('/metrics', '/other'))).status).toBe(404);
    expect((await get(metrics.url, { host: 'evil.example' })).status).toBe(403);
    expect((await get(metrics.url, { origin: 'http://evil.example' })).status).toBe(403);
  });

  it('take a token that is given, which the URL then does not tell, under any name of the host', async () => {
    metrics = await NodeMetrics.serve({ port: 0, address: '0.0.0.0', token: 'secret' });
    const url = metrics.url.replace('0.0.0.0', '127.0.0.1');
    expect(url).not.toContain('secret');
    const as = async (authorization: string) =>
      (await get(url, { host: 'c401.example', authorization })).status;
    expect([await as('Bearer wrong'), await as(''), await as('Bearer secret')]).toEqual([
      403, 403, 200,
    ]);
  });

  it('need the token on other addresses than loopback', async () => {
    metrics = await NodeMetrics.serve({ port: 0, address: '0.0.0.0' });
    const url = metrics.url.replace('0.0.0.0', '127.0.0.1');
    expect((await get(url)).status).toBe(200);
    expect((await get(url.replace(/token=.*/, 'token=wrong'))).status).toBe(403);
    expect((await get(url.replace(/\?.*/, ''))).status).toBe(403);
    const token = url.split('token=')[1];
    expect((await get(url.replace(/\?.*/, ''), { authorization: `Bearer ${token}` })).status).toBe(
      200,
    );
  });

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
    expect(seriesFor('ps', key('load_1', '', 'gauge')).name).toBe('triscope_node_ps_load_1');
  });
});
