/**
 * Models of networks with credits and virtual channels, and the topologies of the built-in ones.
 *
 * @module triscope/sim/networks
 */
export { type DragonflyOptions, dragonfly } from './dragonfly.ts';
export { type FatTreeOptions, fatTree } from './fat-tree.ts';
export { type NetworkDeclaration, networkModel } from './network-model.ts';
export { type SlimFlyOptions, slimFly } from './slim-fly.ts';
export type { NetworkTopology, RouterView, Routes } from './topology.ts';
