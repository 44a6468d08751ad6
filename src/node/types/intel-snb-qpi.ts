/** `intel_snb_qpi`: QPI links of Sandy Bridge. */
import { link } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_QPI = link('snb', [0x3c41, 0x3c42]);
