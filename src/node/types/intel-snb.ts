/** `intel_snb`: core counters of Sandy Bridge, eight per core without threads. */
import { eightCounters } from '../hardware/intel-core.ts';

export const INTEL_SNB = eightCounters('snb');
