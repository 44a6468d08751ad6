/** `intel_snb_cbo`: caching agents of Sandy Bridge, one per core. */
import { cachingAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_SNB_CBO = cachingAgent('snb', 'v1');
