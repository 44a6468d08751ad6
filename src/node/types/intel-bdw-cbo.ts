/** `intel_bdw_cbo`: caching agents of Broadwell, one per core. */
import { cachingAgent } from '../hardware/intel-uncore-units.ts';

export const INTEL_BDW_CBO = cachingAgent('bdw', 'v2');
