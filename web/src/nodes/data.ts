/** Where hosts' values over time come from: a job's from the server's API; without raw stats files, from the tables of samples. */

import { MIB } from '../../../src/model/units.ts';
import { unpackBins } from '../../../src/view/binary.ts';
import type { JobPageFacts } from '../../../src/view/facts/jobs.ts';
import type { NodeMetric, SuspectSpan, SuspectSpans } from '../../../src/view/facts/nodes.ts';
import type { TableFacts } from '../../../src/view/series/store.ts';
import type { EntityBins } from '../../../src/view/series/table.ts';
import type { PageSource } from '../source.ts';

export interface NodeData {
  readonly tracks: readonly NodeMetric[];
  /** All other keys. */
  readonly keys: readonly NodeMetric[];
  /** One per host. */
  bins(
    metric: string,
    from: number,
    to: number,
    bins: number,
    hosts?: readonly string[],
  ): Promise<readonly EntityBins[]>;
  suspects(metric: string): Promise<readonly SuspectSpan[]>;
}

export function jobData(source: PageSource, job: JobPageFacts): NodeData {
  const keys = job.types.flatMap(({ type, keys: own }) =>
    own
      .filter(({ kind }) => kind !== 'control')
      .map(({ name, unit, kind }): NodeMetric => {
        const id = `${type}.${name}`;
        if (kind !== 'event') return { id, title: id, unit, kind: 'level' };
        return { id, title: id, unit: `${unit === '' ? '1' : unit}/s`, kind: 'rate' };
      }),
  );
  return {
    tracks: job.tracks,
    keys,
    bins: async (metric, from, to, bins, hosts) => {
      const asked = { job: job.id, metric, from, to, bins, hosts: hosts?.join(',') };
      return unpackBins(await source.bytes('nodes/series', asked)).series;
    },
    suspects: async (metric) =>
      (await source.json<SuspectSpans>('nodes/suspects', { job: job.id, metric })).spans,
  };
}

/** Tracks of samples: tables and keys that are summed, and the factor that turns the sum into the unit. */
const SAMPLED_TRACKS: readonly (NodeMetric & {
  readonly table: string;
  readonly sum: readonly string[];
  readonly factor: number;
})[] = [
  {
    ...{ id: 'track:cpu', title: 'CPU', unit: 'cores', kind: 'track' },
    ...{ table: 'node_cpu', sum: ['user', 'nice', 'system'], factor: 1 / 100 },
  },
  {
    ...{ id: 'track:ethernet', title: 'Ethernet', unit: 'MiB/s', kind: 'track' },
    ...{ table: 'node_net', sum: ['rx_bytes', 'tx_bytes'], factor: 1 / MIB },
  },
];
const NODE = /^node_/;

/** Entities are `host/device`; they are summed by host. The extremes of a sum are unknown: its mean stands for them. */
function byHost(series: readonly EntityBins[], factor: number): EntityBins[] {
  const sums = new Map<string, Float32Array>();
  for (const { entity, mean } of series) {
    const slash = entity.indexOf('/');
    const host = slash < 0 ? entity : entity.slice(0, slash);
    const sum = sums.get(host);
    if (sum === undefined)
      sums.set(
        host,
        mean.map((value) => value * factor),
      );
    else for (let k = 0; k < sum.length; k++) sum[k] += mean[k] * factor;
  }
  return [...sums].map(([entity, mean]) => ({ entity, min: mean, max: mean, mean }));
}

export function sampledData(source: PageSource, tables: readonly TableFacts[]): NodeData {
  const own = tables.filter(({ name }) => NODE.test(name));
  const has = (table: string, keys: readonly string[]) =>
    own.some(
      ({ name, metrics }) =>
        name === table && keys.every((key) => metrics.some((metric) => metric.key === key)),
    );
  const keys = own.flatMap(({ name, metrics }) =>
    metrics.map(({ key, unit, kind }): NodeMetric => {
      const id = `${name.replace(NODE, '')}.${key}`;
      const isCounter = kind === 'event';
      const per = isCounter ? `${unit === '' ? '1' : unit}/s` : unit;
      return { id, title: id, unit: per, kind: isCounter ? 'rate' : 'level' };
    }),
  );
  return {
    tracks: SAMPLED_TRACKS.filter(({ table, sum }) => has(table, sum)),
    keys,
    bins: async (metric, from, to, bins, hosts) => {
      const track = SAMPLED_TRACKS.find(({ id }) => id === metric);
      const [type, key] = metric.split('.');
      const series =
        track === undefined
          ? await source.series(`node_${type}`, [key], from, to, bins)
          : await source.series(track.table, track.sum, from, to, bins);
      const found = byHost(series, track?.factor ?? 1);
      return hosts === undefined ? found : found.filter(({ entity }) => hosts.includes(entity));
    },
    suspects: async () => [],
  };
}
