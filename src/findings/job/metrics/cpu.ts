/** Processor time, cycles and frequency. */

import { highest, MissingInput } from '../view.ts';
import type { MetricFamily } from './metric.ts';
import { nominalFrequency, pmc } from './types.ts';

export const CPU: MetricFamily = {
  title: 'Processors',
  set: 'summary',
  metrics: [
    {
      name: 'avg_cpuusage',
      unit: 'cores',
      formula: 'Δuser / (100 T N)',
      inputs: ['cpu.user'],
      compute: (view) => view.rate('cpu', 'user') / 100,
    },
    {
      name: 'avg_cpi',
      unit: 'cycles/instruction',
      formula: 'ΔCLOCKS_UNHALTED_CORE / ΔINSTRUCTIONS_RETIRED',
      inputs: ['pmc.CLOCKS_UNHALTED_CORE', 'pmc.INSTRUCTIONS_RETIRED'],
      compute: (view) => {
        const type = pmc(view);
        return view.total(type, 'CLOCKS_UNHALTED_CORE') / view.total(type, 'INSTRUCTIONS_RETIRED');
      },
    },
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
