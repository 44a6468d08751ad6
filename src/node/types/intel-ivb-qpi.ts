/** `intel_ivb_qpi`: QPI links of Ivy Bridge. */
import { link } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_QPI = link('ivb', [0x0e32, 0x0e33, 0x0e3a]);
