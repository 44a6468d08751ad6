/** `intel_ivb_hau`: home agents of Ivy Bridge. */
import { homeAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_HAU = homeAgent('ivb', [0x0e30, 0x0e38]);
