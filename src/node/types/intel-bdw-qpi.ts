/** `intel_bdw_qpi`: QPI links of Broadwell. */
import { link } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_QPI = link('bdw', [0x6f32, 0x6f33, 0x6f3a]);
