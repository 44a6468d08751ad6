/** Disks and Lustre. */
import { average, type Declaration, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';
import { METADATA } from './types.ts';

/** Requests to servers of a kind, and the mean wait for one; by the names of the sets of metrics. */
export function requests(
  type: 'mdc' | 'osc',
  count: string,
  wait: string,
): readonly [Declaration, Declaration] {
  const reqs = sum(type, 'reqs');
  return [
    average(count, '1/s', reqs),
    { ...{ name: wait, unit: 'us' }, of: sum(type, 'wait'), per: reqs },
  ];
}

const OPERATIONS = sum('llite', ...METADATA);

/** Metadata operations; which of them there are depends on the version of Lustre and of the collector. */
export const METADATA_RATE = average('avg_lustreiops', '1/s', OPERATIONS, {
  optional: Object.keys(OPERATIONS),
});
export const OPEN_CLOSE = average('avg_openclose', '1/s', sum('llite', 'open', 'close'));
export const BLOCKS = average('avg_blockbw', 'MiB/s', sum('block', 'rd_sectors', 'wr_sectors'), {
  note: 'Sectors are 512 B.',
});

export const FILES: MetricFamily = {
  title: 'Disks and Lustre',
  set: 'summary',
  metrics: declared(
    BLOCKS,
    { ...METADATA_RATE, name: 'max_mds', highest: 'host' },
    OPEN_CLOSE,
    ...requests('mdc', 'avg_mdcreqs', 'avg_mdcwait'),
    ...requests('osc', 'avg_oscreqs', 'avg_oscwait'),
  ),
};
