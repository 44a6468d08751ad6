/** `intel_bdw_pcu`: power control of Broadwell. */
import { powerControl } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_PCU = powerControl('bdw', 'v2');
