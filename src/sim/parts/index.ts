/**
 * Lines, resources and stores, as fields of an LP's state.
 *
 * @module triscope/sim/parts
 */
export { type Customer, type Joining, type Line, line, type ReadonlyLine } from './line.ts';
export {
  type ReadonlyResource,
  type Resource,
  type ResourceOptions,
  resource,
} from './resource.ts';
export { type Handed, type ReadonlyStore, type Store, type StoreOptions, store } from './store.ts';
