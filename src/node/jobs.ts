/**
 * Which jobs run on this node. All that these name, each once:
 *
 *     the list that `begin` adds to and `end` removes from     LOG/jobs: the boot's id, then a job a line
 *     the job-id file, which a prolog writes                   its first word: 1981063, or 4001,4002
 *
 * and where neither names one, SLURM_JOB_ID. A list of before the machine was started again is stale and holds none.
 */
import { statSync } from 'node:fs';
import { readPlain } from '../os/plain-file.ts';
import { replaceFile } from '../os/whole-file.ts';
import { about } from './log/error.ts';

/** Where tacc_stats' prologs write the job. */
export const JOBID_FILE = '/var/run/TACC_jobid';

const textOf = (path: string): string => {
  try {
    // Where there is none, as mostly: an error that is thrown costs more than this.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return '';
    return readPlain(path);
  } catch {
    return '';
  }
};

/** Ids in a text such as `4001,4002`; `-` and `0` stand for none. */
export function idsIn(text: string): string[] {
  const [word = ''] = text.trim().split(/\s+/, 1);
  return word.split(',').filter((id) => id !== '' && id !== '-' && id !== '0');
}

/** Whether `id` can stand in a group's line: no blanks, commas or control characters. */
export function isJobId(id: string): boolean {
  return /^[^\s,\p{Cc}]+$/u.test(id);
}

/** The ids of jobs that run here: a file with one a line, changed under a lock. */
export class JobList {
  /** Of the file. */
  readonly path: string;

  /** @param path of the file, which need not be there yet */
  constructor(path: string) {
    this.path = path;
  }

  /** Ids in the file; none where there is no file. */
  read(): string[] {
    const [since, ...ids] = textOf(this.path).split('\n').filter(Boolean);
    return since === bootId() ? ids : [];
  }

  /** Adds a job; `only`: all others are gone. Call it while the log is locked. @throws LogError */
  add(id: string, only = false): void {
    const ids = this.read();
    const kept = only ? ids.filter((each) => each === id) : ids;
    if (kept.length < ids.length || !kept.includes(id)) {
      this.write(kept.includes(id) ? kept : [...kept, id]);
    }
  }

  /** Removes a job. Call it while the log is locked. @throws LogError */
  remove(id: string): void {
    const ids = this.read();
    if (ids.includes(id)) this.write(ids.filter((each) => each !== id));
  }

  private write(ids: readonly string[]): void {
    about(this.path, () => {
      replaceFile(this.path, [bootId(), ...ids, ''].join('\n'), { mode: 0o644 });
    });
  }
}

let boot: string | undefined;

/** Changes with each start of the machine. */
export function bootId(): string {
  boot ??= textOf('/proc/sys/kernel/random/boot_id').trim() || '-';
  return boot;
}

/** Where ids of jobs are from: the list that `begin` and `end` keep, and a file that others write. */
export interface JobSources {
  readonly list: JobList | null;
  /** Path of the job-id file. */
  readonly file: string;
}

/** The jobs that the job-id file names. */
export const jobsIn = (file: string): string[] => idsIn(textOf(file));

/** The jobs that run now: those of the list, `ids` of a job-id file, else SLURM_JOB_ID. */
export function jobsNow(list: JobList | null, ids: readonly string[]): string[] {
  const all = [...new Set([...(list?.read() ?? []), ...ids])];
  return all.length > 0 ? all : idsIn(process.env.SLURM_JOB_ID ?? '');
}

/** The job that `begin` and `end` are about where none is named; `-` where none is known. */
export function jobHere(file: string): string {
  const [first = '-'] = [...idsIn(process.env.SLURM_JOB_ID ?? ''), ...jobsIn(file)];
  return first;
}
