/** Debian's Prometheus: it imports a recording's OpenMetrics, and scrapes a node's. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveNodeMetrics } from '../../src/live/metrics.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { until } from '../support/until.ts';
import { folder, inFolder } from './support/export.ts';
import { openMetricsFaults } from './support/openmetrics.ts';
import { triscope } from './support/run.ts';

const there = (command: string) => spawnSync(command, ['--version']).error === undefined;

/** Two modes of samples, and of GVTs several in a millisecond, with a counter beyond 2^53 in sum. */
const recorded = writeFolder(inFolder('often.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(
    batchOf(ROSS_PE, [
      ...[1.0001, 1.0003, 1.0009, 2.5].map((real_time, k) => ({
        ...{ real_time, pe_id: 0, mode: 'gvt', gvt: k + 1, events_processed: 5 },
        ...{ efficiency: 50 + k, gvt_time: 0.25 },
      })),
      ...[1, 2].map((real_time) => ({
        ...{ real_time, pe_id: 0, mode: 'rt', gvt: real_time, events_processed: 10 },
      })),
    ]),
  ),
  'node/h1/1': rawStats(
    'h1',
    [0, 1, 2].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }] })),
  ),
});

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

describe.skipIf(!there('promtool') || !there('prometheus'))('Prometheus (needs prometheus)', () => {
  let prometheus: ChildProcess;
  let metrics: Awaited<ReturnType<typeof serveNodeMetrics>>;
  let url = '';

  const answer = async (path: string) => {
    const response = await fetch(`${url}/api/v1/${path}`);
    return ((await response.json()) as { data: unknown }).data;
  };
  /** Values by labels at a moment, s since 1970. */
  const at = async (query: string, time: number) => {
    const data = (await answer(`query?query=${encodeURIComponent(query)}&time=${time}`)) as {
      result: { metric: Record<string, string>; value: [number, string] }[];
    };
    return data.result.map(({ metric, value }) => [metric.mode ?? metric.device, value[1]]);
  };

  beforeAll(async () => {
    const { out, code } = await triscope(['export', recorded, '--to', 'openmetrics', '-o', '-']);
    expect([code, openMetricsFaults(out)]).toEqual([0, []]);
    const text = join(folder, 'often.om');
    writeFileSync(text, out);
    const data = join(folder, 'prometheus');
    mkdirSync(data);
    const made = spawnSync(
      'promtool',
      'tsdb create-blocks-from openmetrics'.split(' ').concat(text, data),
      {
        encoding: 'utf8',
      },
    );
    expect([made.stderr, made.status]).toEqual(['', 0]);
    metrics = await serveNodeMetrics({ port: 0 });
    metrics.write(
      Buffer.from('$tacc_stats 2.3.5\n$hostname n1\n!cpu user,E,U=cs\n!mem MemFree,U=KB\n'),
      { host: 'n1' },
    );
    metrics.write(Buffer.from('\n100.500000 - n1\ncpu 0 1234\nmem 0 8\n'), { host: 'n1' });
    const config = join(folder, 'prometheus.yml');
    const targets = [new URL(metrics.url).host];
    const scrape = { job_name: 'nodes', scrape_interval: '1s', static_configs: [{ targets }] };
    writeFileSync(config, JSON.stringify({ scrape_configs: [scrape] }));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      'prometheus',
      [
        ...[`--config.file=${config}`, `--storage.tsdb.path=${data}`],
        ...[`--web.listen-address=127.0.0.1:${port}`, '--storage.tsdb.retention.time=100y'],
      ],
      { stdio: 'ignore' },
    );
    await until(() =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });

  afterAll(async () => {
    await metrics?.close();
    if (prometheus?.exitCode === null && prometheus.kill('SIGKILL')) await once(prometheus, 'exit');
  });

  it('imports a recording with several GVTs in a millisecond: the last of each, modes as labels', async () => {
    const events = 'triscope_ross_pe_events_processed_total';
    expect(await at(events, NOON + 1.2)).toEqual([
      ['gvt', '15'],
      ['rt', '10'],
    ]);
    expect(await at(events, NOON + 3)).toEqual([
      ['gvt', '20'],
      ['rt', '20'],
    ]);
    expect(await at('triscope_ross_pe_efficiency_ratio{mode="gvt"}', NOON + 1.2)).toEqual([
      ['gvt', '0.52'],
    ]);
    expect(await at('triscope_ross_pe_gvt_time_seconds_total{mode="gvt"}', NOON + 3)).toEqual([
      ['gvt', '1'],
    ]);
    expect(await at('triscope_node_cpu_user_seconds_total', NOON + 2)).toEqual([['0', '2']]);
  });

  it('scrapes a node, and knows types, sentences and units', async () => {
    const user = 'triscope_node_cpu_user_seconds_total';
    await until(async () => (await at(user, Date.now() / 1000)).length > 0);
    expect(await at(user, Date.now() / 1000)).toEqual([['0', '12.34']]);
    expect(await at('triscope_node_mem_memfree_bytes', Date.now() / 1000)).toEqual([['0', '8192']]);
    const { activeTargets } = (await answer('targets')) as {
      activeTargets: { health: string; lastError: string }[];
    };
    expect(activeTargets).toMatchObject([{ health: 'up', lastError: '' }]);
    const known = (await answer('metadata')) as Record<string, { type: string; help: string }[]>;
    expect(known.triscope_node_cpu_user_seconds).toMatchObject([{ type: 'counter' }]);
    expect(known.triscope_node_mem_memfree_bytes).toMatchObject([{ type: 'gauge' }]);
  });
});
