/** Disks and Lustre. */
import { highest } from '../view.ts';
import { average, type JobMetric, type MetricFamily, quotient } from './metric.ts';
import { METADATA, metadata } from './types.ts';

/** Requests to servers of a kind, and the mean wait for one. */
const requests = (type: 'mdc' | 'osc'): readonly JobMetric[] => [
  average(`avg_${type}reqs`, type, ['reqs'], '1/s'),
  quotient(`avg_${type}wait`, type, 'wait', 'reqs', 'us'),
];

export const FILES: MetricFamily = {
  title: 'Disks and Lustre',
  set: 'summary',
  metrics: [
    average('avg_blockbw', 'block', ['rd_sectors', 'wr_sectors'], 'MiB/s', 'Sectors are 512 B.'),
    {
      name: 'max_mds',
      unit: '1/s',
      formula: `max over hosts and intervals of the rate of ${METADATA.join(' + ')}`,
      inputs: METADATA.map((key) => `llite.${key}`),
      compute: (view) => highest(view.rates('llite', ...metadata(view))),
    },
    average('avg_openclose', 'llite', ['open', 'close'], '1/s'),
    ...requests('mdc'),
    ...requests('osc'),
  ],
};
