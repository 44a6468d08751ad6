/**
 * Raw stats files of tacc_stats (hpcperfstats since 2025): a parser, a writer, and the repair of counters. See docs/formats/tacc.md.
 *
 * @module triscope/formats/tacc
 */
export {
  type CounterRule,
  type CounterVerdict,
  type Reading,
  type Repaired,
  repair,
} from '../../model/counter.ts';
export { counterRule, isCounter, scalesEnergy } from '../../model/counter-rules.ts';
export { blocksOf } from './blocks.ts';
export { detectRaw, looksRaw } from './detect.ts';
export { DeviceRepair, type Listener, type RepairPlan, repairPlan } from './device-repair.ts';
export { foreignFolder } from './foreign.ts';
export { TACC } from './format.ts';
export { shortHost, wasRestarted } from './header-watch.ts';
export { KEPT, LOST, ODDITIES, type OddityKind } from './oddities.ts';
export { RawParser } from './parser.ts';
export type { RawTable } from './part.ts';
export { type ReadRawOptions, readRaw } from './read.ts';
export { RawRecords } from './records.ts';
export {
  formatSchema,
  GROUP_SCHEMA,
  MARK_SCHEMA,
  parseSchema,
  type RawKey,
  type RawSchema,
  rawSchemaOf,
  tableSchema,
} from './schema.ts';
export type { RawGroup, RawProblem, RawSummary, RawVisitor } from './visitor.ts';
export { type RawHeader, type RawStyle, RawWriter } from './writer.ts';
