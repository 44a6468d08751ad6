/**
 * Files that a privileged process trusts or changes: they are checked after opening, not by name, so that
 * a user who may write to a folder on the way cannot redirect it.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { sep } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';

/** A file is not of the required kind, or has another owner. The message names it. */
export class UntrustedError extends TriscopeError {
  override readonly name = 'UntrustedError';
  override readonly exitCode = EXIT.input;
}

/** Open flags of a file that is to be no link, and must not stop us where it is a pipe. */
export const NO_LINK = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const effectiveUser = () => process.geteuid?.() ?? -1;

/** @throws UntrustedError where neither root nor this process's user owns it */
function checkOwner(path: string, { uid }: Stats): void {
  const user = effectiveUser();
  if (user < 0 || uid === 0 || uid === user) return;
  throw new UntrustedError(
    `${path}: belongs to user ${uid}, but this process runs as user ${user}; run it as that user`,
  );
}

function openTrusted(path: string, flags: number): number {
  try {
    return openSync(path, flags | NO_LINK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP') throw error;
    throw new UntrustedError(`${path}: is a symbolic link and may lead anywhere`);
  }
}

/**
 * The text of a file that says what to change: of root or of this user, which no other may write to.
 * @param most bytes that it may have
 * @throws UntrustedError; the system's error where it cannot be read
 */
export function readTrusted(path: string, most: number): string {
  const file = openTrusted(path, constants.O_RDONLY);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new UntrustedError(`${path}: is not a file`);
    checkOwner(path, stats);
    const ofOthers = stats.gid === process.getegid?.() ? 0o002 : 0o022;
    if (effectiveUser() >= 0 && (stats.mode & ofOthers) !== 0) {
      throw new UntrustedError(`${path}: other users can write to it (chmod go-w)`);
    }
    const bytes = Buffer.alloc(Math.min(stats.size, most) + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > most) throw new UntrustedError(`${path}: is larger than ${most} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Where an open file lies: by the kernel, where it says so. */
function placeOf(file: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch {
    return realpathSync(path);
  }
}

/**
 * Opens a file or character device that exists, lies below `folder` when all links are followed, has no other name, and
 * belongs to root or this user. Nothing is cut off, whatever `flags` say.
 * @throws UntrustedError; the system's error where it cannot be opened
 */
export function openBelow(folder: string, path: string, flags: number): number {
  const base = realpathSync(folder);
  const file = openTrusted(realpathSync(path), flags & ~(constants.O_CREAT | constants.O_TRUNC));
  try {
    const stats = fstatSync(file);
    if (!placeOf(file, path).startsWith(base.endsWith(sep) ? base : base + sep)) {
      throw new UntrustedError(`${path}: leads out of ${folder}`);
    }
    if (!stats.isFile() && !stats.isCharacterDevice()) {
      throw new UntrustedError(`${path}: is neither a file nor a device`);
    }
    if (stats.isFile() && stats.nlink > 1) {
      throw new UntrustedError(
        `${path}: has ${stats.nlink} hard links, some of which may lie elsewhere`,
      );
    }
    checkOwner(path, stats);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
