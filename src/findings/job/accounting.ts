/**
 * Accounting files of schedulers: who ran which job, when and where. Three forms, recognised by their lines:
 *
 * - SGE: 44 fields (45 in later versions) separated by colons, as in accounting(5);
 * - SLURM as tacc_stats keeps it: `id:uid:project:yesno:start:end:submit:queue:limit:name:state:nodes:cores`; names
 * may contain colons, so fields are counted from both ends;
 * - `sacct -P`: `JobID|User|Account|Start|End|Submit|Partition|Timelimit|JobName|State|NNodes|ReqCPUS|NodeList`, often
 *   a file per day; columns in any order where a header names them; times are local time.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readPlain, readReason } from '../../os/plain-file.ts';
import { JobError } from './errors.ts';
import { expandHosts } from './host-list.ts';

export interface AccountedJob {
  readonly id: string;
  /** Name, or the numeric id if the file has no name; '' if unknown. */
  readonly user: string;
  readonly account: string;
  readonly queue: string;
  readonly name: string;
  readonly state: string;
  /** Seconds since 1970; null if the job has not reached this point. */
  readonly submitted: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly nodes: number | null;
  readonly cores: number | null;
  /** Seconds that the job asked for; null if the file does not say, or if there was no limit. */
  readonly timeLimit: number | null;
  /** Null if the file does not say. */
  readonly hosts: readonly string[] | null;
  /** `path: line N`. */
  readonly place: string;
}

export interface Accounting {
  readonly jobs: readonly AccountedJob[];
  /** Lines that could not be parsed. */
  readonly problems: readonly { readonly place: string; readonly what: string }[];
}

const LARGEST_BYTES = 1 << 30;
const SACCT =
  'JobID|User|Account|Start|End|Submit|Partition|Timelimit|JobName|State|NNodes|ReqCPUS|NodeList'.split(
    '|',
  );
const SGE_FIELDS = 44;
const SLURM_FIELDS = 13;

/** Seconds since 1970 from a number; 0 means never. */
function epoch(text: string): number | null {
  if (!/^\d+(\.\d+)?$/.test(text)) return null;
  const value = Number(text);
  return value > 0 ? value : null;
}

/** `2015-03-01T12:00:00`, local time where no zone is given, or a number. */
function instant(text: string): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return epoch(text);
  const value = Date.parse(text);
  return Number.isNaN(value) ? null : value / 1000;
}

function count(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** Seconds of `[DAYS-]HH:MM:SS`, `MM:SS` or `DAYS-HH`, as Slurm writes times; null for UNLIMITED and the like. */
function duration(text: string): number | null {
  const [, days, clock] = /^(?:(\d+)-)?(\d+(?::\d+){0,2})$/.exec(text) ?? [];
  if (clock === undefined || (days === undefined && !clock.includes(':'))) return null;
  const parts = clock.split(':').map(Number);
  // With days, the first part is hours; without, the last part is seconds.
  while (parts.length < 3) {
    if (days === undefined) parts.unshift(0);
    else parts.push(0);
  }
  const [hours, minutes, seconds] = parts;
  return ((Number(days ?? 0) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

function fromSge(fields: readonly string[], place: string): AccountedJob {
  const task = fields[35];
  return {
    id: task === undefined || task === '' || task === '0' ? fields[5] : `${fields[5]}.${task}`,
    user: fields[3],
    account: fields[31] === 'NONE' ? fields[6] : fields[31],
    queue: fields[0],
    name: fields[4],
    state: fields[11] === '0' && fields[12] === '0' ? 'COMPLETED' : 'FAILED',
    submitted: epoch(fields[8]),
    started: epoch(fields[9]),
    ended: epoch(fields[10]),
    nodes: null,
    cores: count(fields[34]),
    timeLimit: null,
    // Only the master host is known: accounting files do not list the other hosts of a parallel job.
    hosts: null,
    place,
  };
}

function fromSlurm(fields: readonly string[], place: string): AccountedJob {
  const [state, nodes, cores] = fields.slice(-3);
  return {
    id: fields[0],
    user: fields[1],
    account: fields[2],
    queue: fields[7],
    name: fields.slice(9, -3).join(':'),
    state,
    submitted: epoch(fields[6]),
    started: epoch(fields[4]),
    ended: epoch(fields[5]),
    nodes: count(nodes),
    cores: count(cores),
    timeLimit: duration(fields[8]),
    hosts: null,
    place,
  };
}

function fromSacct(row: ReadonlyMap<string, string>, place: string): AccountedJob {
  const field = (name: string) => row.get(name.toLowerCase()) ?? '';
  return {
    id: field('JobID'),
    user: field('User'),
    account: field('Account'),
    queue: field('Partition'),
    name: field('JobName'),
    state: field('State').split(' ')[0],
    submitted: instant(field('Submit')),
    started: instant(field('Start')),
    ended: instant(field('End')),
    nodes: count(field('NNodes')),
    cores: count(field('ReqCPUS')),
    timeLimit: duration(field('Timelimit')),
    hosts: row.has('nodelist') ? expandHosts(field('NodeList')) : null,
    place,
  };
}

/** A line's job; null for a line that by design has none; or a message about what is wrong with the line. */
type LineResult = AccountedJob | string | null;

class Lines {
  /** Columns of `sacct`, in lower case. */
  private columns: readonly string[] = SACCT.map((name) => name.toLowerCase());

  read(line: string, place: string): LineResult {
    if (line.trim() === '' || line.startsWith('#')) return null;
    if (line.includes('|')) return this.sacct(line, place);
    const fields = line.split(':');
    if (fields.length >= SGE_FIELDS) return fromSge(fields, place);
    if (fields.length < SLURM_FIELDS) {
      return `${fields.length} fields: neither SGE (${SGE_FIELDS}), SLURM (${SLURM_FIELDS}) nor sacct (|)`;
    }
    return fromSlurm(fields, place);
  }

  private sacct(line: string, place: string): LineResult {
    const fields = line.split('|');
    if (fields[0].toLowerCase() === 'jobid') {
      this.columns = fields.map((name) => name.trim().toLowerCase());
      return null;
    }
    // Steps (1.batch, 1.0) are parts of a job, which has a line of its own.
    if (/^\d\S*\.(batch|extern|\d+)$/.test(fields[0])) return null;
    // `sacct -p` ends its lines with a vertical bar.
    if (fields.length === this.columns.length + 1 && fields.at(-1) === '') fields.pop();
    if (fields.length !== this.columns.length) {
      return `${fields.length} fields, its header has ${this.columns.length}`;
    }
    return fromSacct(new Map(this.columns.map((name, k) => [name, fields[k]])), place);
  }
}

/** The jobs of a text. `path` is used in messages. */
export function parseAccounting(text: string, path = 'accounting'): Accounting {
  const jobs: AccountedJob[] = [];
  const problems: { place: string; what: string }[] = [];
  const lines = new Lines();
  for (const [k, line] of text.split(/\r?\n/).entries()) {
    const place = `${path}: line ${k + 1}`;
    let result: LineResult;
    try {
      result = lines.read(line, place);
    } catch (error) {
      if (!(error instanceof JobError)) throw error;
      result = error.message;
    }
    if (typeof result === 'string') problems.push({ place, what: result });
    else if (result !== null) jobs.push(result);
  }
  return { jobs, problems };
}

/** Reads an accounting file, or all files of a folder. @throws JobError if there is none, or if it has no jobs */
export function readAccounting(path: string): Accounting {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new JobError(`${path}: there is no such accounting file`);
  const files = stat.isDirectory()
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(path, entry.name))
        .sort()
    : [path];
  const jobs: AccountedJob[] = [];
  const problems: { place: string; what: string }[] = [];
  for (const file of files) {
    const size = statSync(file).size;
    if (size > LARGEST_BYTES)
      throw new JobError(`${file}: larger than ${LARGEST_BYTES} bytes; split it by day`);
    let text: string;
    try {
      text = readPlain(file, LARGEST_BYTES);
    } catch (error) {
      throw new JobError(`${file}: cannot be read: ${readReason(error)}`);
    }
    const one = parseAccounting(text, file);
    // Pushed one by one: spreading a large array would overflow the stack.
    for (const job of one.jobs) jobs.push(job);
    for (const problem of one.problems) problems.push(problem);
  }
  if (jobs.length === 0) {
    const first = problems[0];
    const why = first === undefined ? 'it is empty' : `${first.place}: ${first.what}`;
    throw new JobError(`${path}: no job in this accounting file; ${why}`);
  }
  return { jobs, problems };
}
