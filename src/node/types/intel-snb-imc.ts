/** `intel_snb_imc`: memory channels of Sandy Bridge. */
import { memoryController } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_IMC = memoryController('snb', [0x3cb0, 0x3cb1, 0x3cb4, 0x3cb5], 0x1400001n);
