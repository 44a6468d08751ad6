/** `intel_hsw_cbo`: caching agents of Haswell, one per core. */
import { cachingAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_HSW_CBO = cachingAgent('hsw', 'v2');
