/**
 * The simulator: write a model with `defineModel`, and run it with `simulate`.
 *
 * @module triscope/sim
 */
export { MissingPieceError, TriscopeError } from '../model/error.ts';
export { array, ring, word } from '../model/fields.ts';
export {
  flag,
  float,
  int,
  OptionError,
  type OptionSpec,
  type OptionSpecs,
  oneOf,
  size,
  text,
} from '../model/option.ts';
export type {
  ReadonlyRecordArray,
  ReadonlyRecordRing,
  RecordArray,
  RecordFields,
  RecordOf,
  RecordRing,
} from '../model/records.ts';
export type {
  ArrayView,
  Fields,
  Length,
  ReadonlyArrayView,
  ReadonlyRingView,
  ReadonlyStructOf,
  RingView,
  Scalar,
  StructOf,
  WordField,
} from '../model/struct.ts';
export { type RunConfig, SYNCHRONISERS, type Synchroniser } from './config.ts';
export { defineModel } from './define-model.ts';
export { type LoadedModel, loadModel, ModelNotFoundError } from './load-model.ts';
export type { TraceRequest } from './lp-trace.ts';
export { cos, exp, log, pow, sin } from './math/index.ts';
export {
  type CustomMapping,
  type EventInfo,
  type GvtHook,
  type GvtHookContext,
  type Lp,
  type LpType,
  type LpView,
  type Model,
  ModelError,
  type PrepareFacts,
  type Results,
  type RunFacts,
} from './model.ts';
export { BUILT_IN } from './models/index.ts';
export type { OutputLine } from './pe.ts';
export type { ModelResults } from './results.ts';
export type { Random } from './rng/random.ts';
export { configFor, type Settings } from './settings.ts';
export { type Progress, type RunOptions, simulate } from './simulate.ts';
export type { StatisticResult } from './statistic/gathered.ts';
export {
  type Histogram,
  type HistogramOptions,
  type HistogramResult,
  histogram,
  type ReadonlyHistogram,
} from './statistic/histogram.ts';
export type { StatisticOptions } from './statistic/options.ts';
export {
  type QuantileOptions,
  type Quantiles,
  type QuantilesResult,
  quantiles,
  type ReadonlyQuantiles,
} from './statistic/quantiles.ts';
export type { SteadyMean } from './statistic/steady.ts';
export { type ReadonlyTally, type Tally, type TallyResult, tally } from './statistic/tally.ts';
export {
  type ReadonlyTimeAverage,
  type TimeAverage,
  type TimeAverageResult,
  timeAverage,
} from './statistic/time-average.ts';
export type { PeStatistics, RunResult } from './statistics.ts';
export { type MeanInterval, meanInterval } from './sweep/interval.ts';
export type { JournalRun } from './sweep/journal.ts';
export { type Measures, parseMeasure, type SweepMeasure } from './sweep/measure.ts';
export { sweepPage } from './sweep/page.ts';
export { type SweepOptions, type SweepPoint, type SweepResult, sweep } from './sweep/sweep.ts';
export { sweepRows, writeSweepParquet } from './sweep/table.ts';
export { type Point, parseVary, type VariedValue, type Vary } from './sweep/vary.ts';
export type { ReadonlyTables, TableContext, Tables } from './tables.ts';
export { type Timer, type Timers, timer, timers } from './timer.ts';
export { type VerifyOptions, type VerifyRow, verify } from './verify.ts';
