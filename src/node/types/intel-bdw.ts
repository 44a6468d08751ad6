/** `intel_bdw`: core counters of Broadwell, eight per core without threads. */
import { eightCounters } from '../hardware/intel-core.ts';

export const INTEL_BDW = eightCounters('bdw');
