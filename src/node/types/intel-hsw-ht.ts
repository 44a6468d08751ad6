/** `intel_hsw_ht`: core counters of Haswell with two threads per core, four for each thread. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_HSW_HT = intelCore({
  name: 'intel_hsw_ht',
  what: 'Haswell with threads',
  counters: 4,
});
