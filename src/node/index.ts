/** The node collector. */
export { type Absent, Collection, type CollectionOptions, UnknownTypeError } from './collect.ts';
export { NodeSampler, SamplerError, type SamplerOptions } from './sampler.ts';
export { NodeTree, UnavailableError } from './tree.ts';
export { NODE_TYPES } from './types/index.ts';
export type { Collector, NodeType } from './types/type.ts';
