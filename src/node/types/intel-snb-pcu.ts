/** `intel_snb_pcu`: power control of Sandy Bridge. */
import { powerControl } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_PCU = powerControl('snb', 'v1');
