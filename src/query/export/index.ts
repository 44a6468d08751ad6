/** Exports recordings: see docs/export.md. */
import { once } from 'node:events';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { scratchFolder } from '../../os/scratch.ts';
import { startThread } from '../../os/thread.ts';
import { endAtExit, endFlag } from '../at-exit.ts';
import { errorFrom, QueryError } from '../errors.ts';
import { ExportError, type ExportOptions, type ExportResult } from './options.ts';
import { allFiles, Staging, writeReason } from './staging.ts';
import type { Exported, ExportTask } from './worker.ts';

export {
  EXPORT_FORMATS,
  ExportError,
  type ExportedFile,
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
} from './options.ts';

/** Endings of single files: with another name the result may be a folder. */
const FILE_NAME = /\.(parquet|arrow|feather|ipc|csv|tsv|json|jsonl|ndjson|txt)$/i;

/**
 * Exports to `out`: a file, or a folder where there are several tables or partitions. Nothing appears under this name
 * before the whole result is on the disk.
 * @throws ExportError, QueryError, InputError, MissingPieceError; the signal's reason
 * @example
 * ```ts
 * import { exportRecording } from 'triscope/query';
 *
 * await exportRecording({ paths: ['run.tri'], format: 'parquet' }, 'run'); // a file for each table in the folder `run`
 * ```
 */
export async function exportRecording(
  options: ExportOptions,
  out: string,
  signal?: AbortSignal,
): Promise<ExportResult> {
  const staging = new Staging(out);
  try {
    const mayBeFolder = !FILE_NAME.test(out);
    const reply = await runWorker(
      { options, folder: staging.folder, result: staging.result, mayBeFolder },
      out,
      signal,
    );
    let bytes = 0;
    for (const file of allFiles(staging.result)) {
      const stat = statSync(file);
      if (stat.isFile()) bytes += stat.size;
    }
    staging.publish();
    const files = reply.files.map((file) => ({
      ...file,
      path: join(out, relative(staging.result, file.path)),
    }));
    return { files, bytes, notes: reply.notes };
  } finally {
    staging.discard();
  }
}

/**
 * The same as bytes into a stream: one file.
 * @example
 * ```ts
 * import { exportToStream } from 'triscope/query';
 *
 * await exportToStream({ paths: ['run.tri'], format: 'csv', tables: ['ross_pe'] }, process.stdout);
 * ```
 */
export async function exportToStream(
  options: ExportOptions,
  stream: NodeJS.WritableStream,
  signal?: AbortSignal,
): Promise<ExportResult> {
  const scratch = scratchFolder('triscope-export-');
  const folder = scratch.path;
  try {
    const result = join(folder, 'result');
    const reply = await runWorker({ options, folder, result, mayBeFolder: false }, '-', signal);
    if (existsSync(result)) await pipeline(createReadStream(result), stream, { end: false });
    return { files: reply.files, bytes: statSync(result).size, notes: reply.notes };
  } finally {
    scratch.remove();
  }
}

async function runWorker(
  work: Omit<ExportTask, 'ended'>,
  out: string,
  signal?: AbortSignal,
): Promise<Exported> {
  const task: ExportTask = { ...work, ended: endFlag() };
  const script = new URL('worker.js', import.meta.url);
  const how = { workerData: task, name: 'export' };
  const { worker, done } = startThread<never, Exported>(script, how);
  endAtExit(worker, task.ended, 'stop');
  const exited = once(worker, 'exit');
  const abort = () => worker.postMessage('stop');
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await done;
  } catch (error) {
    throw signal?.aborted ? signal.reason : explained(error as NodeJS.ErrnoException, out);
  } finally {
    signal?.removeEventListener('abort', abort);
    // It may still hold files open.
    await exited;
  }
}

/** DuckDB's words for a disk that takes no more. */
const NO_ROOM = /No space left on device|File too large|Disk quota exceeded|Could not write/i;

function explained({ name, message, code }: NodeJS.ErrnoException, out: string): Error {
  if (name === 'TooManyTablesError') {
    return new QueryError(
      `${out} is one file, but there are several tables: choose one with --table, or name a folder; tables: ${message}`,
    );
  }
  if (code !== undefined) {
    return new ExportError(
      `${out}: cannot be written: ${writeReason(Object.assign(new Error(message), { code }))}`,
    );
  }
  if (NO_ROOM.test(message)) {
    const which = /No space left/i.test(message)
      ? 'ENOSPC'
      : /quota/i.test(message)
        ? 'EDQUOT'
        : 'EFBIG';
    return new ExportError(`${out}: cannot be written: ${writeReason({ code: which })}`);
  }
  return errorFrom({ name, message });
}
