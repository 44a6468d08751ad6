/** `intel_hsw_hau`: home agents of Haswell. */
import { homeAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_HAU = homeAgent('hsw', [0x2f30, 0x2f38]);
