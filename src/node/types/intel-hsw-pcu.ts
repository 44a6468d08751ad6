/** `intel_hsw_pcu`: power control of Haswell. */
import { powerControl } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_PCU = powerControl('hsw', 'v2');
