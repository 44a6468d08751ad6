/** Options of the commands that write the collector's log. */
import { join } from 'node:path';
import type { RawStyle } from '../formats/tacc/writer.ts';
import { choice, flag, float, text } from '../model/option.ts';
import { type CollectionOptions, UnknownTypeError } from '../node/collect.ts';
import { fullHostname } from '../node/fqdn.ts';
import { idsIn, JOBID_FILE, JobList, type JobSources } from '../node/jobs.ts';
import { NodeLog } from '../node/log/log.ts';
import { MOST_DAYS } from '../node/missed-ends.ts';
import { Programming } from '../node/programming.ts';
import type { CounterUse } from '../node/record.ts';
import { Sampling } from '../node/sampling.ts';
import { NodeTree } from '../node/tree.ts';
import type { Given } from './command.ts';
import { UsageError } from './errors.ts';
import { ROOT, rootFrom } from './root-option.ts';

/** Where the log lies unless --dir or TRISCOPE_NODE_DIR says another place. */
const LOG_FOLDER = '/var/log/triscope';

/** Seconds; the longest that a sample may wait. */
const LONGEST_SECONDS = 60;

/** The folder of the log. */
export const DIR = text('', 'the log’s folder', {
  placeholder: 'DIR',
  names: 'folder',
  fallback: `TRISCOPE_NODE_DIR, else ${LOG_FOLDER}`,
});

/** Where the log lies. */
export const logFolder = (given: Given<{ dir: typeof DIR }>): string =>
  given.dir ?? (process.env.TRISCOPE_NODE_DIR || LOG_FOLDER);

const types = (help: string) =>
  ({
    ...text('', help, { placeholder: 'NAME', names: 'type' }),
    many: true,
    dotted: true,
  }) as const;

export const LOG_OPTIONS = {
  dir: DIR,
  'raw-version': choice(
    ['1', '2'],
    '',
    '1: whole seconds; 2: microseconds, and the host in each group',
    { fallback: 'that of the current file, else 1; the daemon’s is 1, and 2 where it publishes' },
  ),
  style: choice(['1.0', '2.3'], '', 'the version of tacc_stats that wrote so', { hidden: true }),
  'jobid-file': text('', 'file with the running jobs, as a prolog wrote it', {
    placeholder: 'FILE',
    names: 'path',
    fallback: JOBID_FILE,
  }),
  'job-days': float(MOST_DAYS, 'days after which a job whose end was missed is ended', {
    min: 0.01,
    max: 10_000,
    placeholder: 'DAYS',
  }),
  root: ROOT,
  deadline: float(2, 'how long to wait for sources that may block, such as Lustre’s', {
    min: 0.001,
    max: LONGEST_SECONDS,
    placeholder: 'SECONDS',
  }),
  type: types('collect only the named types'),
  'no-type': types('leave a type out'),
  'program-pmc': flag(
    false,
    'program the processors’ counters at begin or at the daemon’s start, and restore the registers at the last end or the daemon’s',
  ),
} as const;

type LogGiven = Given<typeof LOG_OPTIONS>;

/** The era that is asked for; else that of the current file of `log`, else the first. @throws UsageError */
export function styleFrom(given: LogGiven, log: NodeLog | null = null): RawStyle {
  const version = given['raw-version'];
  const isSecond =
    version === undefined ? log?.property('tacc_stats')?.startsWith('2.') : version === '2';
  return given.style ?? (isSecond ? '2.3' : '1.0');
}

export interface LogPlace {
  readonly log: NodeLog;
  readonly pmc: CounterUse;
  readonly sources: JobSources;
}

/** One line on stderr. */
export const say = (line: string): void => {
  process.stderr.write(`triscope: ${line}\n`);
};

/** Where the log and the list of jobs lie. */
export function placeFrom(given: LogGiven): LogPlace {
  const folder = logFolder(given);
  return {
    log: new NodeLog(folder),
    pmc: {
      program: given['program-pmc'] === true,
      programming: new Programming(join(folder, 'registers'), say),
    },
    sources: {
      list: new JobList(join(folder, 'running')),
      file: given['jobid-file'] ?? JOBID_FILE,
      days: given['job-days'] ?? MOST_DAYS,
      say,
    },
  };
}

/** What to collect. `named`: types beside those of --type. @throws UsageError */
export function collectionFrom(given: LogGiven, named: readonly string[]): CollectionOptions {
  const root = rootFrom(given.root);
  return {
    deadline: 1000 * (given.deadline ?? LOG_OPTIONS.deadline.default),
    types: [...named, ...(given.type ?? [])],
    without: given['no-type'] ?? [],
    style: styleFrom(given),
    ...(root !== undefined && { root }),
  };
}

/** The name for headers: the one in the current file, as long as it is this host's, or the full one. */
export async function hostnameFor(root: string | undefined, log: NodeLog | null): Promise<string> {
  const tree = new NodeTree(root);
  const host = tree.hostname();
  const before = log?.property('hostname') ?? '';
  return before === host || before.startsWith(`${host}.`) ? before : await fullHostname(tree);
}

/** @throws UsageError for types that do not exist */
export async function openSampling(options: CollectionOptions): Promise<Sampling> {
  try {
    return new Sampling(options);
  } catch (error) {
    if (!(error instanceof UnknownTypeError)) throw error;
    const { NODE_TYPES } = await import('../node/types/index.ts');
    const { didYouMean } = await import('../model/nearest.ts');
    const names = NODE_TYPES.map(({ name }) => name);
    throw new UsageError(error.message + didYouMean(error.type, names));
  }
}

/** @throws UsageError where an id cannot stand in a group's line */
export function idsFrom(value: string | undefined): string[] | null {
  return value === undefined ? null : idsIn(value);
}
