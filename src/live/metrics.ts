/**
 * Values of the moment for Prometheus and similar programs, served by a thread of their own: requests, even hostile ones,
 * take nothing from the thread that samples.
 */
import type { MetricsOptions, MetricsServer } from './metrics-http.ts';
import type { MetricsSample, MetricsTask } from './metrics-worker.ts';
import { ServerThread } from './net/thread.ts';
import type { SampleFacts } from './node-text.ts';
import type { MetricSeries } from './signal-metrics.ts';

/** MiB of its heap: it holds one sample. */
const HEAP_MIB = 256;

async function start(task: MetricsTask): Promise<ServerThread<MetricsSample>> {
  const thread = await ServerThread.start<MetricsSample, MetricsTask>({
    name: 'the server of metrics',
    script: new URL('metrics-worker.js', import.meta.url),
    task,
    heap: HEAP_MIB,
    killable: true,
  });
  void thread.ended.then((why) => {
    if (why !== null) process.stderr.write(`triscope: ${why.message}; sampling goes on\n`);
  });
  return thread;
}

export interface SignalMetrics extends MetricsServer {
  /** Takes the values of the series, in their order; NaN: absent. */
  set(values: ArrayLike<number>): void;
}

/** @throws ServeError where it cannot listen there */
export async function serveMetrics(
  series: readonly MetricSeries[],
  options: MetricsOptions,
): Promise<SignalMetrics> {
  const thread = await start({ ...options, series });
  return {
    url: thread.url,
    port: thread.port,
    close: () => thread.close(),
    set: (given) => {
      const values = Float64Array.from(given);
      thread.post({ kind: 'values', values }, values.byteLength);
    },
  };
}

export interface NodeMetrics extends MetricsServer {
  readonly name: 'metrics';
  /** Takes a record group, with its header where there is one. */
  write(bytes: Uint8Array, about: SampleFacts): void;
}

/** @throws ServeError where it cannot listen there */
export async function serveNodeMetrics(options: MetricsOptions): Promise<NodeMetrics> {
  const thread = await start({ ...options, series: null });
  return {
    name: 'metrics',
    url: thread.url,
    port: thread.port,
    close: () => thread.close(),
    write: (bytes, { host, missed, lost, waiting }) => {
      const facts = { host, missed, lost, waiting };
      // A copy: the writer's buffer is written anew.
      thread.post({ kind: 'group', bytes: bytes.slice(), facts }, bytes.length);
    },
  };
}
