/**
 * Readers and writers of files: ROSS's, GEOPM's, raw stats, frames. `openData` opens a file of any format that is known.
 *
 * @module triscope/formats
 */
export * from './format.ts';
export { FRAMES } from './frames/format.ts';
export { GEOPM } from './geopm/format.ts';
export { checkGiven, type GivenLayout, type TypeBytes } from './model-bytes.ts';
export {
  batchesOf,
  batchOf,
  type OpenFile,
  type Part,
  type RawColumn,
  type RawRows,
  type TimeSpan,
  type Within,
} from './part.ts';
export {
  checkPayload,
  type PayloadField,
  PayloadLayoutError,
  type PayloadType,
} from './payload.ts';
export { scanRecords } from './records.ts';
export {
  FORMATS,
  type Identified,
  identify,
  identifyOrFail,
  type OpenedFile,
  openData,
} from './registry.ts';
export { ROSS } from './ross/format.ts';
export * from './ross/write/index.ts';
export { bytesSource, openFile } from './source.ts';
export { TACC } from './tacc/format.ts';
