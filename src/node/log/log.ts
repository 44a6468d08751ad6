/**
 * The collector's folder: raw stats files named after the second of their first group, of which `current` is another
 * name of the one that is written to.
 *
 *     lock            held while a group is collected and written; the note of the last write
 *     current         the same file as 1795226208
 *     1795226192      ended by `rotate`, a new schema, another host or a restart of the machine
 *     1795226208
 *     running/        the jobs that run: see jobs.ts
 *     registers       what programmed registers held before: see programming.ts
 *
 * A file appears with its header and first group, or not at all.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../os/folder.ts';
import { NO_LINK } from '../../os/trusted-file.ts';
import { appendWhole, mend } from './append.ts';
import { about, LogError } from './error.ts';
import { headText, type LogHead, propertyOf, refusal } from './head.ts';
import { Lock } from './lock.ts';

/** Milliseconds to wait for the lock, as in the original. */
const LOCK_WAIT_MS = 30_000;

const APPEND = constants.O_RDWR | constants.O_APPEND | NO_LINK;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code;

/** Removes a name; whether it was there. */
function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** A record group: the second since 1970 that it is of, and its bytes. */
export interface LogGroup {
  /** Whole seconds since 1970: names the file that the group begins. */
  readonly second: number;
  /** The group as the file holds it. */
  readonly bytes: Uint8Array;
}

/**
 * A host's raw stats files in a folder: a new one where the schema changes or a day ends, appended to under a lock.
 * @example
 * ```ts
 * import { NodeLog, Sampling } from 'triscope/node';
 *
 * const log = new NodeLog('log');
 * const sampling = new Sampling({ types: ['cpu', 'mem'] });
 * log.locked(() => log.append(sampling.head, sampling.take(['4001'])));
 * sampling.close();
 * log.close();
 * ```
 */
export class NodeLog {
  /** Where its files are. */
  readonly folder: string;
  private readonly current: string;
  private readonly lock: Lock;
  private file = -1;
  private inode = 0;
  /** The header that the open file was found to go with. */
  private head: LogHead | null = null;
  private _locked = false;

  /** Opens nothing yet. */
  constructor(folder: string) {
    this.folder = folder;
    this.current = join(folder, 'current');
    this.lock = new Lock(join(folder, 'lock'));
  }

  /**
   * Runs `work` while no other process collects into this folder, which is created where it is missing.
   * @throws LogError where the folder cannot be used, or another process holds it for too long
   */
  locked<T>(work: () => T): T {
    this.acquire();
    this._locked = true;
    try {
      return work();
    } finally {
      this._locked = false;
      this.lock.release();
    }
  }

  /**
   * Appends a group to the current file; begins one, with `head`, where there is none or it cannot take the group.
   * @throws LogError where it could not be written; nothing of it is in the file
   */
  append(head: LogHead, group: LogGroup): void {
    this.expectLock();
    const size = this.open(head);
    if (size < 0) this.begin(head, group);
    else {
      const open = { path: this.current, file: this.file, ino: this.inode };
      appendWhole(this.lock.file, open, size, group.bytes);
    }
  }

  /** Ends the current file; whether there was one. The next group begins another. @throws LogError */
  rotate(): boolean {
    this.expectLock();
    if (this.openCurrent()) mend(this.lock.file, this.file);
    this.forget();
    return about(this.current, () => remove(this.current));
  }

  /** A property of the current file's header, such as `hostname`; null where there is none. */
  property(name: string): string | null {
    return propertyOf(this.headText(), name);
  }

  /** A type's schema line in the current file; null where it has none. */
  schema(type: string): string | null {
    const lines = this.headText().split('\n');
    return lines.find((line) => line.startsWith(`!${type} `)) ?? null;
  }

  private headText(): string {
    try {
      const file = openSync(this.current, 'r');
      try {
        return headText(file) ?? '';
      } finally {
        closeSync(file);
      }
    } catch {
      return '';
    }
  }

  /** The second that the current file is named after, as far as this process knows; null where it does not. */
  begun: number | null = null;

  /** Closes the file that is written. */
  close(): void {
    this.forget();
    this.lock.close();
  }

  private acquire(): void {
    try {
      this.lock.acquire(LOCK_WAIT_MS);
    } catch (error) {
      if (codeOf((error as Error).cause) !== 'ENOENT') throw error;
      about(this.folder, () => makeFolder(this.folder));
      this.lock.acquire(LOCK_WAIT_MS);
    }
  }

  private expectLock(): void {
    if (!this._locked) throw new Error('the log is not locked');
  }

  private forget(): void {
    if (this.file >= 0) closeSync(this.file);
    this.file = -1;
    this.head = null;
    this.begun = null;
  }

  /** Opens `current`, unless it is what is open. False where there is none. */
  private openCurrent(): boolean {
    const named = about(this.current, () => statSync(this.current, { throwIfNoEntry: false }));
    if (this.file >= 0 && named?.ino !== this.inode) this.forget();
    if (named === undefined) return false;
    if (this.file < 0) this.file = about(this.current, () => openSync(this.current, APPEND));
    this.inode = named.ino;
    return true;
  }

  /** Makes `current` ready to take records under `head`: its length, or -1 where a new file is needed. */
  private open(head: LogHead): number {
    if (!this.openCurrent()) return -1;
    const size = mend(this.lock.file, this.file);
    if (this.head === head) return size;
    const text = headText(this.file);
    const begun = text === null ? 0 : firstSecond(this.file, text);
    if (text === null || refusal(text, begun, head) !== null) {
      this.rotate();
      return -1;
    }
    this.head = head;
    this.begun = begun;
    return size;
  }

  private begin(head: LogHead, group: LogGroup): void {
    const draft = join(this.folder, 'new');
    const bytes = Buffer.concat([head.whole?.() ?? head.bytes, group.bytes]);
    about(draft, () => remove(draft));
    const file = about(draft, () => openSync(draft, 'ax+', 0o644));
    try {
      // Whatever the umask: readers may be other users.
      fchmodSync(file, 0o644);
      const written = about(this.folder, () => writeSync(file, bytes));
      if (written < bytes.length) throw new LogError(`${this.folder}: its disk or quota is full`);
      about(this.folder, () => {
        this.begun = linkAsSecond(draft, this.folder, group.second);
        linkSync(draft, this.current);
      });
    } catch (error) {
      closeSync(file);
      throw error;
    } finally {
      remove(draft);
    }
    this.file = file;
    this.inode = fstatSync(file).ino;
    this.head = head;
  }
}

/** Gives `draft` the name of the second, or of the next one that is free. */
function linkAsSecond(draft: string, folder: string, second: number): number {
  for (let name = second; ; name++) {
    try {
      linkSync(draft, join(folder, String(name)));
      return name;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** The second of the first group, which follows the header; 0 where there is none. */
function firstSecond(file: number, head: string): number {
  const buffer = Buffer.alloc(32);
  const length = readSync(file, buffer, 0, buffer.length, Buffer.byteLength(head));
  return Math.trunc(Number.parseFloat(buffer.toString('latin1', 0, length))) || 0;
}
