/**
 * The files of an archive of raw stats: `ARCHIVE/HOST/EPOCH[.gz]`, where the name is the second at which the file
 * begins. Files may also be named `YYYYMMDD`, or `current` if no other name leads to the same file.
 */
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SKEW_SECONDS } from '../../model/clock-skew.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../../model/units.ts';
import { JobError } from './errors.ts';
import { shortName } from './host-list.ts';

export interface ArchiveFile {
  /** Name of its folder. */
  readonly host: string;
  readonly path: string;
  /** Seconds since 1970 at which the file begins, from its name. Null for `current`, whose name has no time. */
  readonly from: number | null;
  /** The file's stamp when the archive was listed. */
  readonly stamp?: FileStamp;
}

/** Identifies a file's content: if the stamp differs, the file has changed. */
export interface FileStamp {
  readonly size: number;
  /** Nanoseconds since 1970. */
  readonly mtime: bigint;
  readonly inode: bigint;
}

export interface Archive {
  readonly path: string;
  /** Hosts by name, then files by time. */
  readonly files: readonly ArchiveFile[];
  /** Files that are not read, with the reason, including folders that cannot be read. */
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

const EPOCH = /^(\d{9,11})(\.gz)?$/;
const DAY = /^(\d{4})-?(\d{2})-?(\d{2})(\.gz)?$/;
const MOST_FILES = 1_000_000;

/** The stamp of a file; null if there is no such file. */
export function stampOf(path: string): FileStamp | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  return { size: Number(stat.size), mtime: stat.mtimeNs, inode: stat.ino };
}

/** A file of an archive from its path in the archive: `HOST/1380603606.gz`. */
export function fileOf(archive: string, path: string): ArchiveFile {
  const whole = join(archive, path);
  return { host: basename(dirname(whole)), path: whole, from: timeOf(basename(path)) ?? null };
}

/** The time in a file's name; undefined if the name has none. */
function timeOf(name: string): number | null | undefined {
  if (/^current(\.gz)?$/.test(name)) return null;
  const epoch = EPOCH.exec(name);
  if (epoch !== null) return Number(epoch[1]);
  const day = DAY.exec(name);
  if (day === null) return undefined;
  const [, year, month, date] = day.map(Number);
  if (year < 1970 || month < 1 || month > 12 || date < 1 || date > 31) return undefined;
  return Date.UTC(year, month - 1, date) / 1000;
}

const reasonOf = (error: unknown) => {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  if (code === 'ELOOP') return 'a loop of symbolic links';
  if (code === 'ENOENT') return 'a symbolic link that leads nowhere';
  return `cannot be read: ${code ?? (error as Error).message}`;
};

class Search {
  readonly files: ArchiveFile[] = [];
  readonly skipped: { path: string; why: string }[] = [];
  /** Device and inode of files and folders that were visited: links and loops may lead to them again. */
  private readonly seen = new Set<string>();

  skip(path: string, why: string): void {
    this.skipped.push({ path, why });
  }

  list(folder: string): Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
        a.name < b.name ? -1 : 1,
      );
    } catch (error) {
      this.skip(folder, reasonOf(error));
      return [];
    }
  }

  /** What a path leads to, at the first visit: 'folder' or a file's stamp; null if it was visited before or cannot be read. */
  once(path: string): FileStamp | 'folder' | null {
    try {
      const stat = statSync(path, { bigint: true });
      const id = `${stat.dev}:${stat.ino}`;
      if (this.seen.has(id)) {
        this.skip(path, 'another name of a file that was already read');
        return null;
      }
      this.seen.add(id);
      if (stat.isDirectory()) return 'folder';
      if (stat.isFile()) {
        return { size: Number(stat.size), mtime: stat.mtimeNs, inode: stat.ino };
      }
      this.skip(path, 'neither a file nor a folder');
    } catch (error) {
      this.skip(path, reasonOf(error));
    }
    return null;
  }

  host(folder: string, host: string): void {
    // Numbers first: `current` is usually another name of the newest file.
    const names = this.list(folder)
      .map(({ name }) => name)
      .sort((a, b) => Number(timeOf(a) === null) - Number(timeOf(b) === null));
    for (const name of names) {
      // The job index, and the notes of the archive's service.
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      const from = timeOf(name);
      if (from === undefined) {
        this.skip(path, 'its name is neither a time, a day, nor current');
        continue;
      }
      if (from === null && this.isKnown(path)) continue;
      const stamp = this.once(path);
      if (stamp === null || stamp === 'folder') continue;
      this.files.push({ host, path, from, stamp });
      if (this.files.length > MOST_FILES) {
        throw new JobError(`${folder}: more than ${MOST_FILES} files; name a smaller archive`);
      }
    }
  }

  /** Whether `current` is another name of a file that was found already. Such names are not reported. */
  private isKnown(path: string): boolean {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && this.seen.has(`${stat.dev}:${stat.ino}`);
  }
}

/** Finds the files. `path` may also be one host's folder. @throws JobError if there is no such folder, or if it is empty */
export function openArchive(path: string): Archive {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new JobError(`${path}: there is no such folder`);
  if (!stat.isDirectory()) {
    throw new JobError(`${path}: is not a folder; an archive has a folder for each host`);
  }
  const search = new Search();
  search.once(path);
  const entries = search.list(path);
  if (entries.some(({ name }) => timeOf(name) !== undefined)) {
    search.host(path, basename(realpathSync(path)));
  } else {
    for (const entry of entries) {
      const folder = join(path, entry.name);
      // Accounting files and the like are beside the folders of hosts.
      if (entry.isFile()) continue;
      if (search.once(folder) === 'folder') search.host(folder, entry.name);
    }
  }
  const { files, skipped } = search;
  if (files.length === 0) {
    const unreadable = skipped.find(({ why }) => /may not|cannot/.test(why));
    const more = unreadable === undefined ? '' : `; ${unreadable.path} ${unreadable.why}`;
    throw new JobError(
      `${path}: no raw stats file in this archive; they are ${join(path, 'HOST', 'EPOCH')} or ${join(path, 'HOST', 'EPOCH')}.gz${more}`,
    );
  }
  const order = ({ from }: ArchiveFile) => from ?? Number.POSITIVE_INFINITY;
  files.sort((a, b) => (a.host === b.host ? order(a) - order(b) : a.host < b.host ? -1 : 1));
  return { path, files, skipped };
}

/** Files are rotated daily; the longest known ones cover twice that, with two more hours each. */
const LONGEST_SECONDS = 2 * (DAY_SECONDS + 2 * HOUR_SECONDS);

/** Whether a file may contain records of this time span; `from` and `to` may be infinite. */
export function mayHold(file: ArchiveFile, from: number, to: number): boolean {
  if (file.from === null) return true;
  return file.from <= to + SKEW_SECONDS && file.from + LONGEST_SECONDS >= from - SKEW_SECONDS;
}

/** The archive's hosts that a list names, by full name or without the domain. Null for names that are not in the archive. */
export function hostsNamed(
  archive: Archive,
  wanted: readonly string[],
): ReadonlyMap<string, string | null> {
  const all = [...new Set(archive.files.map(({ host }) => host))];
  const byShort = new Map(all.map((host) => [shortName(host), host]));
  return new Map(
    wanted.map((name) => [
      name,
      all.includes(name) ? name : (byShort.get(shortName(name)) ?? null),
    ]),
  );
}
