/** Processor time, cycles and frequency. */

import { highest, MissingInput } from '../view.ts';
import { average, type MetricFamily, quotient } from './metric.ts';
import { nominalFrequency, PMC, pmc } from './types.ts';

export const CPU: MetricFamily = {
  title: 'Processors',
  set: 'summary',
  metrics: [
    average('avg_cpuusage', 'cpu', ['user'], 'cores'),
    quotient('avg_cpi', PMC, 'CLOCKS_UNHALTED_CORE', 'INSTRUCTIONS_RETIRED', 'cycles/instruction'),
    {
      name: 'avg_freq',
      unit: 'GHz',
      formula: 'nominal frequency × ΔCLOCKS_UNHALTED_CORE / ΔCLOCKS_UNHALTED_REF',
      inputs: ['pmc.CLOCKS_UNHALTED_CORE', 'pmc.CLOCKS_UNHALTED_REF'],
      note: 'Nominal GHz by type, as in the original: snb, 8pmc3 and 4pmc3 2.7, ivb 2.8, hsw 2.3, bdw 2.6, knl 1.4, skx 2.1.',
      compute: (view) => {
        const type = pmc(view);
        const nominal = nominalFrequency(type);
        if (Number.isNaN(nominal)) throw new MissingInput(`the nominal frequency of ${type}`);
        const core = view.total(type, 'CLOCKS_UNHALTED_CORE');
        return (nominal * core) / view.total(type, 'CLOCKS_UNHALTED_REF');
      },
    },
    {
      name: 'max_load15',
      unit: 'processes',
      formula: 'max over hosts and times of load_15 / 100',
      inputs: ['ps.load_15'],
      compute: (view) => {
        const load = highest(view.series('ps', 'load_15'));
        view.note('ps.load_15', load, '');
        return load / 100;
      },
    },
  ],
};
