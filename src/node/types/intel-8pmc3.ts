/** `intel_8pmc3`: core counters of processors with eight, where no other type is for them; Skylake without threads. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_8PMC3 = intelCore({
  name: 'intel_8pmc3',
  what: 'Intel processors with eight counters and no type of their own',
  counters: 8,
});
