/** Measures of regions, from GEOPM's reports and ours. Keys are those of the reports' columns. */
import type { Measure } from './measure.ts';

const total = (
  key: string,
  label: string,
  unit: string,
  help: string,
  good: Measure['good'] = null,
): Measure => ({ key, label, unit, good, of: { [key]: 1 }, per: null, factor: 1, help });

export const RUNTIME = total(
  'runtime',
  'runtime',
  's',
  'time from entering to leaving, whatever other processes did: exact, and the mean over processes',
  'less',
);
export const SYNC_RUNTIME = total(
  'sync_runtime',
  'sync-runtime',
  's',
  'time in which all processes of the host were inside at once: sampled. Energy, power and frequency are of this time. Much less than runtime: processes are inside at different times',
);
export const VISITS = total('count', 'visits', '', 'times it was entered, mean over processes');
export const PACKAGE_ENERGY = total(
  'package_energy',
  'package energy',
  'J',
  'of all processor packages, during sync-runtime',
  'less',
);
export const DRAM_ENERGY = total(
  'dram_energy',
  'DRAM energy',
  'J',
  'of all memory, during sync-runtime',
  'less',
);

export const POWER: Measure = {
  key: 'power',
  label: 'power',
  unit: 'W',
  good: null,
  of: { package_energy: 1 },
  per: { sync_runtime: 1 },
  factor: 1,
  help: 'package energy divided by sync-runtime',
};

export const ALIGNED_SHARE: Measure = {
  key: 'aligned_share',
  label: 'all CPUs in it',
  unit: '%',
  good: 'more',
  of: { sync_runtime: 1 },
  per: { runtime: 1 },
  factor: 100,
  help: 'time in which all processes of the host were in the region at once (sampled), for each 100 s of its runtime',
};

export const APPLICATION_SHARE: Measure = {
  key: 'application_share',
  label: 'of the application',
  unit: '%',
  good: null,
  of: { runtime: 1 },
  per: { application_runtime: 1 },
  factor: 100,
  help: 'runtime for each 100 s of the application’s, both averaged over processes',
};
