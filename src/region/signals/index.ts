/**
 * Signals and controls of a machine: energy, frequency, temperature, load (`Platform`), and sessions that sample them.
 *
 * @module triscope/signals
 */
export { AGGREGATIONS, type Aggregate, type AggregationName } from '../aggregation.ts';
export { Controls, type SavedSetting } from '../controls.ts';
export { Machine } from '../machine.ts';
export { Platform, type PlatformOptions, type SignalInfo } from '../platform.ts';
export * from '../session/index.ts';
export {
  AbsentSignalError,
  ControlError,
  SignalConfigError,
  SignalError,
} from '../signal-error.ts';
export { isSignalDomain, MachineTopology, parseCpuList } from '../topology.ts';
export {
  type Behaviour,
  type Control,
  type ControlDeclaration,
  type Provided,
  type Provider,
  type ProviderContext,
  SIGNAL_DOMAINS,
  type Signal,
  type SignalDeclaration,
  type SignalDomain,
  type SignalFormat,
  type SignalReader,
  type SignalUnit,
} from './provider.ts';
export { ALL_PROVIDERS, PROVIDERS } from './providers.ts';
