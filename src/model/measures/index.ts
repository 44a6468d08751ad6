/** Quantities that are computed from metrics: each is declared exactly once, in this folder. */
export { DECLARED } from './declared.ts';
export {
  evaluate,
  inputsOf,
  type Measure,
  macroOf,
  meanOver,
  type Quotient,
  type SumOf,
  sqlOf,
  sumText,
  type Weights,
} from './measure.ts';
export {
  BEYOND,
  courseOf,
  coveredBy,
  modeOf,
  moves,
  oneMode,
  type Settled,
  settledSql,
  VIRTUAL_TIMES,
} from './mode.ts';
export {
  BYTES_RATE,
  CPU_BUSY,
  CPU_IDLE,
  CPU_STOLEN,
  CPU_SYSTEM,
  CPU_USER,
  MEMORY_IN_USE,
} from './node.ts';
export { pooled, scatter } from './pooled.ts';
export {
  ALIGNED_SHARE,
  APPLICATION_SHARE,
  DRAM_ENERGY,
  PACKAGE_ENERGY,
  POWER,
  RUNTIME,
  SYNC_RUNTIME,
  VISITS,
} from './region.ts';
export {
  ACTIVITIES,
  COMMITTED_RATE,
  EFFICIENCY,
  HANDLED_RATE,
  ROLLED_BACK_RATE,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
  THREAD_RUNNING,
  THREAD_WAITING,
} from './simulation.ts';
export {
  bytes,
  counted,
  duration,
  percent,
  shareText,
  short,
  signedPercent,
  whole,
} from './text.ts';
