/** `intel_ivb_pcu`: power control of Ivy Bridge. */
import { powerControl } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_PCU = powerControl('ivb', 'v1');
