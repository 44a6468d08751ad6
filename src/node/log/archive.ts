/**
 * Moves old files of a log into an archive: ARCHIVE/HOST/SECOND.gz, where HOST is the `$hostname` of the file.
 *
 * A file is removed only when its copy is complete, has its name, and is on the disk. So a crash at any moment leaves the file,
 * the copy, or both. If both exist, they are compared, and the file is removed if the copy holds it.
 */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { makeFolder } from '../../os/folder.ts';
import { LogError, reasonOf } from './error.ts';
import { headText, propertyOf } from './head.ts';

/** What `archiveLog` did. */
export interface ArchiveResult {
  /** Paths in the archive of the files that were moved now. */
  readonly moved: readonly string[];
  /** Files that are old enough but were left, each with the reason, on one line. */
  readonly left: readonly string[];
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Makes changes to a file, or in a folder, durable on the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The host's folder: the file's `$hostname`, if that can be the name of a folder. @throws LogError */
async function hostOf(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const host = propertyOf(headText(handle.fd) ?? '', 'hostname') ?? '';
    if (/^[\w.-]+$/.test(host) && !/^\.*$/.test(host)) return host;
    throw new LogError(
      `${path}: line 2 has no $hostname that could name a folder; is it a raw stats file?`,
    );
  } finally {
    await handle.close();
  }
}

/** Passes bytes on and updates a digest with them. */
function digesting(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

/** Digest of the contents of a gzip file; null if it is cut or damaged. */
async function digestWithin(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), createGunzip(), hash);
    return hash.digest('hex');
  } catch {
    return null;
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Compresses `from` into `to`, which gets its name when it is complete and on the disk. @throws LogError */
async function compress(from: string, to: string, folder: string): Promise<void> {
  const draft = join(folder, `.${process.pid}.new`);
  try {
    const hash = createHash('sha256');
    await rm(draft, { force: true });
    const output = createWriteStream(draft, { mode: 0o644, flags: 'wx' });
    await pipeline(createReadStream(from), digesting(hash), createGzip(), output);
    await sync(draft);
    if ((await digestWithin(draft)) !== hash.digest('hex')) {
      throw new LogError(
        `${draft}: the file read back differs from what was written; the disk may be failing`,
      );
    }
    await rename(draft, to);
    await sync(folder);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves one file; returns its path in the archive. @throws LogError */
async function move(path: string, name: string, archive: string): Promise<string> {
  const folder = join(archive, await hostOf(path));
  const to = join(folder, `${name}.gz`);
  makeFolder(folder);
  const there = await stat(to).catch(() => null);
  if (there === null) await compress(path, to, folder);
  else if ((await digestWithin(to)) !== (await digestOf(path))) {
    throw new LogError(`${path}: ${to} exists with different content; both files are kept`);
  }
  await rm(path);
  return to;
}

/**
 * Moves the files that began at least `age` seconds ago, according to their names, except the current one.
 * @throws LogError if the log cannot be listed
 * @example
 * ```ts
 * import { archiveLog } from 'triscope/node';
 *
 * const { moved, left } = await archiveLog('/var/log/triscope', '/archive', 86400); // a day, in seconds
 * ```
 */
export async function archiveLog(
  folder: string,
  archive: string,
  age: number,
): Promise<ArchiveResult> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw new LogError(`${folder}: ${reasonOf(error)}`);
  }
  const now = Date.now() / 1000;
  const old = names.filter((name) => /^\d{1,15}$/.test(name) && now - Number(name) >= age).sort();
  const moved: string[] = [];
  const left: string[] = [];
  for (const name of old) {
    const path = join(folder, name);
    try {
      const current = await stat(join(folder, 'current')).catch(() => null);
      if (current?.ino === (await stat(path)).ino) {
        left.push(`${path}: it is the current file; rotate first`);
      } else moved.push(await move(path, name, archive));
    } catch (error) {
      // Removed by another archiver.
      if (codeOf(error) === 'ENOENT' && !(await stat(path).catch(() => null))) continue;
      left.push(error instanceof LogError ? error.message : `${path}: ${reasonOf(error)}`);
    }
  }
  return { moved, left };
}
