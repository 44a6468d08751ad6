/**
 * `intel_4pmc3`: core counters of processors with four per thread, where no other type is for them. Its counters are
 * declared as such; tacc_stats 2.3.5 calls them control registers.
 */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_4PMC3 = intelCore({
  name: 'intel_4pmc3',
  what: 'Intel processors with four counters and no type of their own',
  counters: 4,
});
