/** `intel_knl`: core counters of Knights Landing, two of 40 bits. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_KNL = intelCore({
  name: 'intel_knl',
  what: 'Knights Landing',
  counters: 2,
  bits: 40,
});
