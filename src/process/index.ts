/** The processes and threads of a command, as the kernel sees them. */
export { ProcessSampler, ProcessSamplerError } from './sampler.ts';
export type { ProcessResult } from './sampler-worker.ts';
export { ENV_MARK } from './tree.ts';
