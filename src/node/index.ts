/**
 * The node collector: samples of a machine's counters, once (`Collection`) or at regular times (`Daemon`).
 *
 * @module triscope/node
 */
export { type Absent, Collection, type CollectionOptions, UnknownTypeError } from './collect.ts';
export {
  ConfigError,
  DEFAULT_CONFIG,
  type NodeConfig,
  parseConfig,
  readConfig,
  usualConfig,
} from './config.ts';
export { Daemon, type DaemonOptions, type DaemonResult } from './daemon.ts';
export { domainsIn, fullHostname, fullNameIn } from './fqdn.ts';
export type { GroupFacts, GroupSink } from './group-sink.ts';
export { type Hardware, hardwareOf, type RecordedWrite } from './hardware/hardware.ts';
export { restoreRegisters } from './hardware/register-type.ts';
export type { SavedRegister } from './hardware/registers.ts';
export { idsIn, isJobId, JOBID_FILE, JobList, type JobSources, jobsNow } from './jobs.ts';
export { type ArchiveResult, archiveLog } from './log/archive.ts';
export { Backlog } from './log/backlog.ts';
export { LogError } from './log/error.ts';
export type { LogHead } from './log/head.ts';
export { type LogGroup, NodeLog } from './log/log.ts';
export { Programming } from './programming.ts';
export { type CounterUse, type Occasion, recordOnce } from './record.ts';
export { NodeSampler, SamplerError, type SamplerOptions } from './sampler.ts';
export { Sampling } from './sampling.ts';
export { NodeTree, UnavailableError } from './tree.ts';
export { NODE_TYPES } from './types/index.ts';
export { surveyType, type TypeFacts } from './types/survey.ts';
export type { Collector, NodeType } from './types/type.ts';
