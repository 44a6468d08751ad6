/** `intel_nhm`: core counters of Nehalem, four; the fixed ones first, as tacc_stats 2.0 has them. */
import { intelCore } from '../hardware/intel-core.ts';

export const INTEL_NHM = intelCore({
  name: 'intel_nhm',
  what: 'Nehalem',
  counters: 4,
  fixedFirst: true,
});
