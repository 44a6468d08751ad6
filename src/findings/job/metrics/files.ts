/** Disks and Lustre. */
import { highest } from '../view.ts';
import type { JobMetric, MetricFamily } from './metric.ts';
import { METADATA, metadata } from './types.ts';

const MB = 2 ** 20;

/** Requests to servers of a kind, and how long one waited. */
const requests = (type: 'mdc' | 'osc'): readonly JobMetric[] => [
  {
    name: `avg_${type}reqs`,
    unit: '1/s',
    formula: 'Δreqs / (T N)',
    inputs: [`${type}.reqs`],
    compute: (view) => view.rate(type, 'reqs'),
  },
  {
    name: `avg_${type}wait`,
    unit: 'us',
    formula: 'Δwait / Δreqs',
    inputs: [`${type}.wait`, `${type}.reqs`],
    compute: (view) => view.total(type, 'wait') / view.total(type, 'reqs'),
  },
];

export const FILES: MetricFamily = {
  title: 'Disks and Lustre',
  set: 'summary',
  metrics: [
    {
      name: 'avg_blockbw',
      unit: 'MiB/s',
      formula: 'Δ(rd_sectors + wr_sectors) in B / (2²⁰ T N)',
      inputs: ['block.rd_sectors', 'block.wr_sectors'],
      compute: (view) => view.rate('block', 'rd_sectors', 'wr_sectors') / MB,
    },
    {
      name: 'max_mds',
      unit: '1/s',
      formula: `max over hosts and intervals of the rate of ${METADATA.join(' + ')}`,
      inputs: METADATA.map((key) => `llite.${key}`),
      compute: (view) => highest(view.rates('llite', ...metadata(view))),
    },
    {
      name: 'avg_openclose',
      unit: '1/s',
      formula: 'Δ(open + close) / (T N)',
      inputs: ['llite.open', 'llite.close'],
      compute: (view) => view.rate('llite', 'open', 'close'),
    },
    ...requests('mdc'),
    ...requests('osc'),
  ],
};
