/**
 * Finds out which jobs run on this node. Each job named by one of these counts once:
 *
 *     the list that `begin` adds to and `end` removes from     LOG/running/BOOT.1981063: an empty file each
 *     the job-id file, which a prolog writes                   its first word: 1981063, or 4001,4002
 *
 * If neither names a job, SLURM_JOB_ID counts. Names from before the machine's last start are stale. Empty files need
 * no space, so a job can begin and end on a full disk.
 */
import { closeSync, constants, lstatSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../os/folder.ts';
import { readPlain } from '../os/plain-file.ts';
import { NO_LINK } from '../os/trusted-file.ts';
import { about, LogError } from './log/error.ts';

/** Where tacc_stats' prologs write the job. */
export const JOBID_FILE = '/var/run/TACC_jobid';

const textOf = (path: string): string => {
  try {
    // Usually there is no such file, and throwing an error costs more than this check.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return '';
    return readPlain(path);
  } catch {
    return '';
  }
};

/**
 * Ids in a text such as `4001,4002`; `-` and `0` mean none.
 * @example
 * ```ts
 * import { idsIn } from 'triscope/node';
 *
 * idsIn('4001,4002'); // ['4001', '4002']
 * idsIn('-'); // []
 * ```
 */
export function idsIn(text: string): string[] {
  const [word = ''] = text.trim().split(/\s+/, 1);
  return word.split(',').filter((id) => id !== '' && id !== '-' && id !== '0');
}

/**
 * Whether `id` can stand in a group's line: no blanks, commas or control characters.
 * @example
 * ```ts
 * import { isJobId } from 'triscope/node';
 *
 * isJobId('4001'); // true
 * isJobId('4001 b'); // false
 * ```
 */
export function isJobId(id: string): boolean {
  return /^[^\s,\p{Cc}]+$/u.test(id);
}

/** A job of the list. */
export interface NodeJob {
  readonly id: string;
  /** When it was added, in milliseconds since 1970. */
  readonly since: number;
}

/**
 * The ids of the jobs that run here: a folder with an empty file for each, changed under the log's lock.
 * @example
 * ```ts
 * import { JobList, NodeLog } from 'triscope/node';
 *
 * const log = new NodeLog('log');
 * const jobs = new JobList('log/jobs');
 * log.locked(() => jobs.add('4001'));
 * console.log(jobs.read()); // ['4001']
 * ```
 */
export class JobList {
  /** Path of the folder. */
  readonly path: string;

  /** @param path of the folder, which need not exist yet */
  constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder now, because later the disk may be full. @throws LogError */
  make(): void {
    about(this.path, () => {
      makeFolder(this.path);
      if (!lstatSync(this.path).isDirectory())
        throw new LogError(`${this.path}: is a symbolic link`);
    });
  }

  /** Jobs in the order in which they were added; empty if there is no folder. */
  jobs(): NodeJob[] {
    const found: (NodeJob & { readonly at: bigint })[] = [];
    const before = `${bootId()}.`;
    for (const name of this.names()) {
      if (!name.startsWith(before)) continue;
      const path = join(this.path, name);
      const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
      const id = idOf(name.slice(before.length));
      if (stat === undefined || id === null) continue;
      found.push({ id, since: Number(stat.mtimeMs), at: stat.mtimeNs });
    }
    found.sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1));
    return found.map(({ id, since }) => ({ id, since }));
  }

  /** Ids of the jobs. */
  read(): string[] {
    return this.jobs().map(({ id }) => id);
  }

  /** Adds a job; with `only`, removes all others. Call it while the log is locked. @throws LogError */
  add(id: string, only = false): void {
    about(this.path, () => {
      this.make();
      // Jobs from before the machine's last start are removed as well.
      for (const name of this.names()) {
        if (name === nameOf(id)) continue;
        if (only || !name.startsWith(`${bootId()}.`)) rmSync(join(this.path, name));
      }
      closeSync(openSync(join(this.path, nameOf(id)), ADD, 0o644));
    });
  }

  /** Removes a job. Call it while the log is locked. @throws LogError */
  remove(id: string): void {
    about(this.path, () => {
      if (this.names().includes(nameOf(id))) rmSync(join(this.path, nameOf(id)));
    });
  }

  /** Names of jobs' files, of every boot; if the folder is a link, it is not followed. */
  private names(): string[] {
    if (lstatSync(this.path, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
    return readdirSync(this.path).filter((name) => NAME.test(name));
  }
}

/** A boot's id, then a job's. */
const NAME = /^(?:-|[\da-f-]{36})\../;

const ADD = constants.O_WRONLY | constants.O_CREAT | NO_LINK;

/** Name of a job's file: ids may contain characters that file names may not. */
const nameOf = (id: string): string => `${bootId()}.${encodeURIComponent(id)}`;

function idOf(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

let boot: string | undefined;

/** Changes with each start of the machine. */
export function bootId(): string {
  boot ??= textOf('/proc/sys/kernel/random/boot_id').trim() || '-';
  return boot;
}

/** Where job ids come from: the list that `begin` and `end` keep, and a file that others write. */
export interface JobSources {
  /** The list that `begin` and `end` keep; null for none. */
  readonly list: JobList | null;
  /** Path of the job-id file. */
  readonly file: string;
  /** Days after which a job of the list counts as ended even without an `end`. */
  readonly days?: number;
  /** Called with one line for each job whose end was missed. */
  readonly say?: (line: string) => void;
}

/** The jobs that the job-id file names. */
export const jobsIn = (file: string): string[] => idsIn(textOf(file));

/**
 * The jobs that run now: those of the list and those in `ids` (of a job-id file); if there are none, SLURM_JOB_ID.
 * @example
 * ```ts
 * import { idsIn, JobList, jobsNow } from 'triscope/node';
 *
 * const running = jobsNow(new JobList('log/jobs'), idsIn('4002')); // of the list and the job-id file, else SLURM_JOB_ID
 * ```
 */
export function jobsNow(list: JobList | null, ids: readonly string[]): string[] {
  const all = [...new Set([...(list?.read() ?? []), ...ids])];
  return all.length > 0 ? all : idsIn(process.env.SLURM_JOB_ID ?? '');
}

/** The job that `begin` and `end` refer to if none is named; `-` if unknown. */
export function jobHere(file: string): string {
  const [first = '-'] = [...idsIn(process.env.SLURM_JOB_ID ?? ''), ...jobsIn(file)];
  return first;
}
