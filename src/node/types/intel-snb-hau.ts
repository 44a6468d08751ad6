/** `intel_snb_hau`: home agents of Sandy Bridge. */
import { homeAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_HAU = homeAgent('snb', [0x3c46]);
