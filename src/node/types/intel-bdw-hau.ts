/** `intel_bdw_hau`: home agents of Broadwell. */
import { homeAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_HAU = homeAgent('bdw', [0x6f30, 0x6f38]);
