/** Recordings and files as SQL tables: see docs/query.md; exported for other tools: docs/export.md. */
export type { ResultColumn } from './database.ts';
export { InputError, MissingPieceError, QueryError } from './errors.ts';
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
export { type Cell, type FilterColumn, filterRows } from './filter-rows.ts';
export { type OpenRecording, openRecording, type Row, type Rows, type Value } from './open.ts';
export type { Suspect } from './part.ts';
