/** The thread of a server of metrics: it keeps the last sample, and answers who asks for it. */
import { type MetricsOptions, serveMetricsText } from './metrics-http.ts';
import { runInThread } from './net/in-thread.ts';
import { NodeText, type SampleFacts } from './node-text.ts';
import { type MetricSeries, SignalText } from './signal-metrics.ts';

export interface MetricsTask extends MetricsOptions {
  /** Of signals, these; of a node where null. */
  readonly series: readonly MetricSeries[] | null;
}

/** A sample: values of signals in their order, or a record group of a node's host. */
export type MetricsSample =
  | { readonly kind: 'values'; readonly values: Float64Array }
  | { readonly kind: 'group'; readonly bytes: Uint8Array; readonly facts: SampleFacts };

/** What a key of a node's type means. */
async function helpOfTypes(): Promise<(type: string, key: string) => string | null> {
  const { NODE_TYPES } = await import('../node/types/index.ts');
  const known = new Map(
    NODE_TYPES.flatMap(({ name, metrics }) =>
      metrics.map(({ key, help }) => [`${name} ${key}`, help] as const),
    ),
  );
  return (type, key) => known.get(`${type} ${key}`) ?? null;
}

await runInThread<MetricsSample, MetricsTask>(async ({ series, ...options }) => {
  const signals = series === null ? null : new SignalText(series);
  const node = series === null ? new NodeText(await helpOfTypes()) : null;
  const server = await serveMetricsText(signals ?? (node as NodeText), options);
  return {
    ...server,
    take: (sample) => {
      if (sample.kind === 'values') signals?.set(sample.values);
      else node?.write(sample.bytes, sample.facts);
    },
  };
});
