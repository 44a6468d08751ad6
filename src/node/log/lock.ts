/** A lock that processes share by the name of a file. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { isAlive } from '../../os/alive.ts';
import { canLock, tryLock, unlock } from '../../os/flock.ts';
import { NO_LINK } from '../../os/trusted-file.ts';
import { about, LogError } from './error.ts';

/** Milliseconds between two tries: initially, and at most. */
const SHORTEST_MS = 1;
const LONGEST_MS = 16;
/** Milliseconds after which a takeover counts as abandoned by a dead process. */
const TURN_MS = 10_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));
const sleep = (milliseconds: number) => Atomics.wait(sleeper, 0, 0, milliseconds);

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * An exclusive lock on the file `path`, which is created if missing and stays. The kernel releases it with the
 * process. If files cannot be locked (no FFI), `path.held` exists while the lock is held and names the holder's pid; a file
 * left by a dead process is taken over.
 */
export class Lock {
  readonly path: string;
  private _file = -1;
  private inode = 0;
  private held = false;

  constructor(path: string) {
    this.path = path;
  }

  /** The open lock file, for short notes; only while the lock is held. */
  get file(): number {
    return this._file;
  }

  /** Tries once. @throws LogError if the file cannot be opened */
  try(): boolean {
    this.open();
    if (!canLock()) this.held = this.tryByName();
    else if (tryLock(this._file)) {
      this.held = this.isCurrent();
      if (!this.held) this.close();
    }
    return this.held;
  }

  /** Waits for the lock. @throws LogError if that takes longer than `timeout` milliseconds */
  acquire(timeout: number): void {
    let waited = 0;
    for (let wait = SHORTEST_MS; !this.try(); wait = Math.min(2 * wait, LONGEST_MS)) {
      waited += wait;
      if (waited > timeout) {
        throw new LogError(
          `${this.path}: another process has held this lock for ${timeout / 1000} s; find it with fuser ${this.path}`,
        );
      }
      sleep(wait);
    }
  }

  release(): void {
    if (!this.held) return;
    this.held = false;
    if (canLock()) unlock(this._file);
    else unlinkSync(`${this.path}.held`);
  }

  close(): void {
    this.release();
    if (this._file >= 0) closeSync(this._file);
    this._file = -1;
  }

  private open(): void {
    if (this._file >= 0) return;
    const flags = constants.O_RDWR | constants.O_CREAT | NO_LINK;
    this._file = about(this.path, () => openSync(this.path, flags, 0o644));
    this.inode = fstatSync(this._file).ino;
  }

  /** Whether the locked file still has its name: somebody may have removed it. */
  private isCurrent(): boolean {
    const named = statSync(this.path, { throwIfNoEntry: false });
    return named?.ino === this.inode;
  }

  private tryByName(): boolean {
    const path = `${this.path}.held`;
    try {
      const file = openSync(path, 'wx', 0o644);
      writeSync(file, `${process.pid}\n`);
      closeSync(file);
      return true;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw new LogError(`${path}: ${(error as Error).message}`);
    }
    takeOver(path);
    return false;
  }
}

/**
 * Removes a holder's file if the holder is dead. One process at a time does so, because otherwise a living holder's
 * file could be removed.
 */
function takeOver(path: string): void {
  const turn = `${path}.turn`;
  try {
    closeSync(openSync(turn, 'wx'));
  } catch {
    const left = statSync(turn, { throwIfNoEntry: false });
    // Another may remove it at the same time.
    if (left !== undefined && Date.now() - left.mtimeMs > TURN_MS) rmSync(turn, { force: true });
    return;
  }
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // An empty file is still being written, unless it is old.
    const dead = pid > 0 ? !isAlive(pid) : Date.now() - statSync(path).mtimeMs > TURN_MS;
    if (dead) unlinkSync(path);
  } catch {
    // Removed meanwhile: the next try decides.
  } finally {
    // It is gone if this process was stopped for longer than a turn may take.
    rmSync(turn, { force: true });
  }
}
