/** Processor time, cycles and frequency. */
import { average, type Declaration, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';
import { NOMINAL } from './types.ts';

export const CPI: Declaration = {
  ...{ name: 'avg_cpi', unit: 'cycles/instruction' },
  of: sum('pmc', 'CLOCKS_UNHALTED_CORE'),
  per: sum('pmc', 'INSTRUCTIONS_RETIRED'),
};

export const FREQUENCY: Declaration = {
  ...{ ...CPI, name: 'avg_freq', unit: 'GHz', per: sum('pmc', 'CLOCKS_UNHALTED_REF') },
  constant: { name: 'nominal frequency', unit: 'GHz', family: 'pmc', values: NOMINAL },
};

export const CPU: MetricFamily = {
  title: 'Processors',
  set: 'summary',
  metrics: declared(average('avg_cpuusage', 'cores', sum('cpu', 'user')), CPI, FREQUENCY, {
    ...{ name: 'max_load15', unit: 'processes', of: sum('ps', 'load_15'), per: null },
    highest: 'host',
  }),
};
