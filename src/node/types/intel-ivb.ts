/** `intel_ivb`: core counters of Ivy Bridge, eight per core without threads. */
import { eightCounters } from '../hardware/intel-core.ts';

export const INTEL_IVB = eightCounters('ivb');
