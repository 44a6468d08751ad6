/** Jobs of an archive of raw stats: their records, metrics and flags. See docs/node/jobs.md. */
export { type AccountedJobs, accountedById, accountedFor } from './accounted-for.ts';
export {
  type AccountedJob,
  type Accounting,
  parseAccounting,
  readAccounting,
} from './accounting.ts';
export { jobTimes } from './align.ts';
export { type Archive, type ArchiveFile, openArchive } from './archive.ts';
export { type DeviceRow, devicePage } from './device-page.ts';
export { JobError, JobNotFoundError } from './errors.ts';
export { conditionOf, type FlagResult, flagsOf, JOB_FLAGS } from './flags.ts';
export { type Gauge, gaugesOf } from './gauges.ts';
export type { HostJob, HostOddity } from './host-job.ts';
export { expandHosts, shortName } from './host-list.ts';
export { indexArrived, retain } from './index-files.ts';
export { accountedJob, isoTime, type Job, type JobQuery, readJob } from './job.ts';
export { indexPath, type UpdateOptions, type UpdateResult, updateIndex } from './job-index.ts';
export { type ListedJob, type ListedJobs, listJobs } from './job-list.ts';
export { jobFacts, jobObject } from './job-object.ts';
export { type JobRow, METRIC_COLUMNS, measuredRows, rowOf } from './job-rows.ts';
export {
  filesOfJob,
  type GroupRow,
  type HostDay,
  type JobsWanted,
  KeptJobs,
  openJobs,
  writeParquet,
} from './kept-jobs.ts';
export { ALL_JOBS } from './marks.ts';
export { METRIC_FAMILIES, metricsInSteps, metricsOf } from './metrics/index.ts';
export {
  type JobMetric,
  METRIC_SETS,
  type MetricFamily,
  type MetricSet,
  type MetricValue,
} from './metrics/metric.ts';
export { notesOf, repairsOf } from './notes.ts';
export { withoutOthers } from './own-job.ts';
export { type JobToRead, type ReadJobsOptions, readJobs } from './read-jobs.ts';
export { balanceOf, type MetricTrack, tracksOf } from './tracks.ts';
export { inUnit, type KeyTotals, type OddDelta, type TypeTable } from './type-table.ts';
export { type Input, JobRows, JobView, MissingInput } from './view.ts';
