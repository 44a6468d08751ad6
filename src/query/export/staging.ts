/**
 * Files appear under their names only when they are complete: they are written into a hidden folder beside, put on the disk
 * (fsync), and renamed. If the export ends early, nothing has the name.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { atEnd } from '../../os/exit.ts';
import { removeLeftovers } from '../leftovers.ts';
import { ExportError } from './options.ts';

/** A file system's error, in words for the user. */
export function writeReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'EFBIG') return 'it would be larger than a file may be here (ulimit -f)';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not write there';
  if (code === 'EROFS') return 'the file system is read-only';
  if (code === 'ENOENT') return 'its folder is not there';
  if (code === 'ENOTDIR') return 'a part of its path is a file';
  if (code === 'EDQUOT') return 'the disk quota is used up';
  return message;
}

/** Parts of exports that were killed. */
const PART = /^\..*\.part-(\d+)-\w{6}$/;

export class Staging {
  /** Where the result goes. */
  readonly target: string;
  /** Hidden, beside it. The result is its `RESULT`; anything else in it is removed. */
  readonly folder: string;
  private readonly done: () => void;

  /** @throws ExportError */
  constructor(given: string) {
    this.target = resolve(given);
    const stat = statSync(this.target, { throwIfNoEntry: false });
    if (stat?.isDirectory() && readdirSync(this.target).length > 0) {
      throw new ExportError(`${given}: is a folder that is not empty; choose another name`);
    }
    if (stat !== undefined && !stat.isDirectory() && !stat.isFile()) {
      throw new ExportError(`${given}: not a regular file; use -o - for stdout`);
    }
    try {
      const [folder, start] = [dirname(this.target), `.${basename(this.target)}.part-`];
      removeLeftovers(folder, PART);
      this.folder = mkdtempSync(join(folder, `${start}${process.pid}-`));
    } catch (error) {
      throw new ExportError(`${given}: cannot be written: ${writeReason(error)}`);
    }
    // DuckDB may notice an interrupt later than the process is ended.
    this.done = atEnd(() => this.remove());
  }

  get result(): string {
    return join(this.folder, 'result');
  }

  /** Gives the result its name, replacing a file or an empty folder. @throws ExportError */
  publish(): void {
    try {
      for (const path of [...allFiles(this.result)]) sync(path);
      const isFolder = statSync(this.result).isDirectory();
      const there = statSync(this.target, { throwIfNoEntry: false });
      if (there?.isDirectory()) rmdirSync(this.target);
      else if (there !== undefined && isFolder) {
        throw new ExportError(
          `${this.target}: is a file, but the result is a folder; choose another name`,
        );
      }
      renameSync(this.result, this.target);
      sync(dirname(this.target));
    } catch (error) {
      if (error instanceof ExportError) throw error;
      throw new ExportError(`${this.target}: cannot be written: ${writeReason(error)}`);
    } finally {
      this.discard();
    }
  }

  discard(): void {
    this.done();
    this.remove();
  }

  private remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Files in and under `path`, with their folders after them. */
export function* allFiles(path: string): Generator<string> {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path)) yield* allFiles(join(path, name));
  }
  yield path;
}

function sync(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes the folder in which `path` is to lie. */
export function makeFolderOf(path: string): void {
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
}
