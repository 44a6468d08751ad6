/** `intel_ivb_cbo`: caching agents of Ivy Bridge, one per core. */
import { cachingAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_IVB_CBO = cachingAgent('ivb', 'v1');
