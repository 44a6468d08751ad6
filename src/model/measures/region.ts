/** What is told of regions, from reports of GEOPM and ours. */
import type { Measure } from './measure.ts';

export const ALIGNED_SHARE: Measure = {
  key: 'aligned_share',
  label: 'all CPUs in it',
  unit: '%',
  good: 'more',
  of: { sync_runtime: 1 },
  per: { runtime: 1 },
  factor: 100,
  help: 'time in which all CPUs of a process were in the region (sampled), for each 100 s of its runtime',
};
