/**
 * Recordings and files as SQL tables (`openRecording`; see docs/query.md), and their export for other tools (see docs/export.md).
 *
 * @module triscope/query
 */

export { quoteName, quoteText } from '../model/sql.ts';
export type { ColumnData } from './column-batches.ts';
export type { ResultColumn } from './database.ts';
export {
  InputError,
  MemoryLimitError,
  MissingPieceError,
  QueryError,
  TimeLimitError,
} from './errors.ts';
export {
  EXPORT_FORMATS,
  ExportError,
  type ExportedFile,
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  exportRecording,
  exportToStream,
} from './export/index.ts';
export { filterRows } from './filter.ts';
export type { FilterCell, FilterColumn } from './filter-rows.ts';
export type { Limits } from './limits.ts';
export {
  type ColumnBatch,
  type ColumnResult,
  type OpenOptions,
  type OpenRecording,
  openRecording,
  type QueryOptions,
  type Row,
  type Rows,
  type Value,
} from './open.ts';
export type { Suspect } from './part.ts';
export { type ScriptStatement, statementsOf } from './script.ts';
export type {
  KnownTables,
  TableColumn,
  TableColumns,
  TableOptions,
  TypedTable,
} from './typed-table.ts';
