/** `intel_skx`: core counters of Skylake and Cascade Lake with two threads per core, four for each thread. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_SKX = intelCore({
  name: 'intel_skx',
  what: 'Skylake with threads',
  counters: 4,
});
