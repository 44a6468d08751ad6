/** `intel_hsw_qpi`: QPI links of Haswell. */
import { link } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_QPI = link('hsw', [0x2f32, 0x2f33, 0x2f3a]);
