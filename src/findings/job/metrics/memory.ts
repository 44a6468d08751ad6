/** Memory: how much, and how fast. */
import { MEMORY_IN_USE } from '../../../model/measures/index.ts';
import { average, type Declaration, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';

/** The highest use of memory on any host. */
export const HIGH_WATER: Declaration = {
  ...{ name: 'mem_hwm', unit: 'GiB', per: null, highest: 'host' },
  of: Object.fromEntries(
    Object.entries(MEMORY_IN_USE.of).map(([key, weight]) => [`mem.${key}`, weight]),
  ),
  note: 'More memory may have been in use between two samples.',
};

const LINES = sum('imc', 'CAS_READS', 'CAS_WRITES');
/** What memory controllers moved; a line has 64 B. */
export const BANDWIDTH = average('avg_mbw', 'GiB/s', LINES, { factor: 64 });

const EDC = sum('intel_knl_edc_eclk', 'RPQ_INSERTS', 'WPQ_INSERTS');

export const MEMORY: MetricFamily = {
  title: 'Memory',
  set: 'summary',
  metrics: declared(
    HIGH_WATER,
    BANDWIDTH,
    {
      ...{ name: 'avg_page_hitrate', unit: '' },
      ...{ of: { ...LINES, 'imc.ACT_COUNT': -1 }, per: LINES },
    },
    {
      ...BANDWIDTH,
      name: 'avg_mcdrambw',
      of: {
        ...EDC,
        'intel_knl_edc_uclk.EDC_MISS_CLEAN': -1,
        'intel_knl_edc_uclk.EDC_MISS_DIRTY': -1,
        'intel_knl_mc_dclk.CAS_READS': -1,
      },
      inQueue: [/flat/i, { of: EDC }],
    },
  ),
};
