/** `intel_hsw`: core counters of Haswell, eight per core without threads. */
import { eightCounters } from '../hardware/intel-core.ts';

export const INTEL_HSW = eightCounters('hsw');
