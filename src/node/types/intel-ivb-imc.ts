/** `intel_ivb_imc`: memory channels of Ivy Bridge. */
import { memoryController } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_IMC = memoryController('ivb', [0x0eb0, 0x0eb1, 0x0eb4, 0x0eb5], 0x1400b01n);
