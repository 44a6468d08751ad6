/** Core counters of Intel's processors: one type per processor and number of counters. A new one is a row here. */
import { type CoreTypeOptions, intelCore } from '../hardware/intel-core.ts';

const CORES: readonly CoreTypeOptions[] = [
  // For processors without a type of their own. tacc_stats 2.3.5 calls the counters of `intel_4pmc3` control registers.
  {
    name: 'intel_4pmc3',
    what: 'Intel processors with four counters and no type of their own',
    counters: 4,
  },
  {
    name: 'intel_8pmc3',
    what: 'Intel processors with eight counters and no type of their own',
    counters: 8,
  },
  // Eight counters: those of a core that runs one thread.
  { name: 'intel_snb', what: 'Sandy Bridge', counters: 8 },
  { name: 'intel_ivb', what: 'Ivy Bridge', counters: 8 },
  { name: 'intel_hsw', what: 'Haswell', counters: 8 },
  { name: 'intel_bdw', what: 'Broadwell', counters: 8 },
  // Four counters for each of a core's two threads. Cascade Lake counts as Skylake.
  { name: 'intel_hsw_ht', what: 'Haswell with threads', counters: 4 },
  { name: 'intel_skx', what: 'Skylake with threads', counters: 4 },
  // Fixed counters stand first in the schema, as tacc_stats 2.0 has them.
  { name: 'intel_nhm', what: 'Nehalem', counters: 4, fixedFirst: true },
  { name: 'intel_wtm', what: 'Westmere', counters: 4, fixedFirst: true },
  { name: 'intel_knl', what: 'Knights Landing', counters: 2, bits: 40 },
];

export const INTEL_CORES = CORES.map(intelCore);
