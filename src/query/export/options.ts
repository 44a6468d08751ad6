/** Options of an export, and its result. */
import { TriscopeError } from '../../model/error.ts';

/** What a recording can be exported to. */
export const EXPORT_FORMATS = [
  'parquet',
  'arrow',
  'csv',
  'json',
  'trace-event',
  'openmetrics',
] as const;
/** One of `EXPORT_FORMATS`. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What to export, in which format, and where to. */
export interface ExportOptions {
  /** Recordings' folders, folders of native files, or files. */
  readonly paths: readonly string[];
  /** Format of the files. */
  readonly format: ExportFormat;
  /** Only these tables, by their names in SQL; the recording's own where not said. Not for trace events. */
  readonly tables?: readonly string[];
  /** One query in place of tables. */
  readonly sql?: string;
  /** Parquet, CSV and JSON in folders `host=NAME`. */
  readonly partition?: 'host';
  /** CSV as GEOPM's traces: `|` between, signals' names, a head. */
  readonly style?: 'geopm';
  /** Other names of columns; the column `t`, which is ours alone, is left out then. */
  readonly rename?: Readonly<Record<string, string>>;
  /** CSV texts that a spreadsheet would run as formulas get a `'` before them. */
  readonly quoteFormulas?: boolean;
  /** Only what is at or after this time, in seconds since the recording's start; trace events only. */
  readonly from?: number;
  /** Only what is before this time, in seconds since the recording's start; trace events only. */
  readonly to?: number;
  /** Arrows from sends to receives; true where not said. */
  readonly flows?: boolean;
  /** Trace events compressed. */
  readonly gzip?: boolean;
}

/** A file that was written, and how many rows it holds. */
export interface ExportedFile {
  /** Of the table or the query; of traces, what it holds. */
  readonly table: string;
  /** A file, or a folder of partitions. */
  readonly path: string;
  /** Rows; of traces, trace events; of OpenMetrics, samples. */
  readonly rows: number;
}

/** Files that were written, their bytes in all, and what there is to know about them. */
export interface ExportResult {
  /** The files that were written. */
  readonly files: readonly ExportedFile[];
  /** Bytes of all files. */
  readonly bytes: number;
  /** What a user should know, each in a line. */
  readonly notes: readonly string[];
}

/**
 * The result cannot be written. One line that names the file.
 * @example
 * ```ts
 * import { ExportError, exportRecording } from 'triscope/query';
 *
 * await exportRecording({ paths: ['run.tri'], format: 'csv' }, 'out').catch((error: unknown) => {
 *   if (error instanceof ExportError) console.error(error.message); // names the file
 * });
 * ```
 */
export class ExportError extends TriscopeError {
  override readonly name = 'ExportError';
}
