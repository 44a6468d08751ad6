/** `intel_wtm`: core counters of Westmere, four; the fixed ones first, as tacc_stats 2.0 has them. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_WTM = intelCore({
  name: 'intel_wtm',
  what: 'Westmere',
  counters: 4,
  fixedFirst: true,
});
