/** Options of the commands that write the collector's log. */
import { join } from 'node:path';
import type { RawStyle } from '../formats/tacc/writer.ts';
import { type CollectionOptions, UnknownTypeError } from '../node/collect.ts';
import { numberIn } from '../node/config.ts';
import { fullHostname } from '../node/fqdn.ts';
import { idsIn, JOBID_FILE, JobList, type JobSources } from '../node/jobs.ts';
import { NodeLog } from '../node/log/log.ts';
import { Programming } from '../node/programming.ts';
import type { CounterUse } from '../node/record.ts';
import { Sampling } from '../node/sampling.ts';
import { isOfRights, NodeTree } from '../node/tree.ts';
import type { Absent } from '../node/types/open-types.ts';
import { UsageError } from './errors.ts';
import { HELP, readWords, rootFrom, type Words } from './node-options.ts';

/** Seconds: see `CollectionOptions`. */
const DEADLINE = 2;
/** Where the log lies unless --dir or TRISCOPE_NODE_DIR says another place. */
export const LOG_FOLDER = '/var/log/triscope';

export const LOG_HELP = `  --dir DIR          the log's folder (TRISCOPE_NODE_DIR, ${LOG_FOLDER})
  --raw-version N    1: whole seconds; 2: microseconds, and the host in each group (that of the
                     current file, else 1; the daemon's is 1, and 2 where it publishes)
  --jobid-file FILE  names the jobs that run, as a prolog wrote them (${JOBID_FILE})
  --root DIR         read the proc and sys of this folder, such as a recorded tree
  --deadline SECONDS how long sources that may hang are waited for, such as Lustre's (${DEADLINE})
  --no-type.NAME     leave a type out; --type.NAME: only the types so named
  --program-pmc      set the control registers of processors' counters (at begin, or the daemon's
                     start), and give them back what they held (at the last end, or the daemon's)`;

/** Seconds; the longest that a sample may wait. */
const LONGEST = 60;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

export const LOG_OPTIONS = {
  ...HELP,
  dir: text,
  'raw-version': text,
  style: text,
  'jobid-file': text,
  root: text,
  deadline: text,
  'program-pmc': flag,
} as const;

/** A command's words, and the types that are turned on and off among them. */
export interface LogWords extends Words {
  readonly only: readonly string[];
  readonly without: readonly string[];
}

/** @throws UsageError */
export function readLogWords(
  args: readonly string[],
  options: Parameters<typeof readWords>[1],
): LogWords {
  const only: string[] = [];
  const without: string[] = [];
  const rest = args.filter((word) => {
    const found = /^--(no-)?type\.(.+)$/.exec(word);
    if (found !== null) (found[1] === undefined ? only : without).push(found[2]);
    return found === null;
  });
  return { ...readWords(rest, options), only, without };
}

export { flag, text };

/** The string value of an option; undefined where it is not given. */
export function stringOf(words: Words, name: string): string | undefined {
  const value = words.values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The era that is asked for; else that of the current file of `log`, else the first. @throws UsageError */
export function styleFrom(words: Words, log: NodeLog | null = null): RawStyle {
  const version = stringOf(words, 'raw-version');
  if (version !== undefined && version !== '1' && version !== '2') {
    throw new UsageError(`--raw-version ${version}: it is 1 or 2`);
  }
  const isSecond =
    version === undefined ? log?.property('tacc_stats')?.startsWith('2.') : version === '2';
  const style = stringOf(words, 'style') ?? (isSecond ? '2.3' : '1.0');
  if (style === '1.0' || style === '2.3') return style;
  throw new UsageError(`--style ${style}: it is 1.0 or 2.3`);
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

/** Says which types only want rights, in one line. */
export function tellRights(absent: readonly Absent[]): void {
  const types = absent.filter(({ reason }) => isOfRights(reason)).map(({ type }) => type);
  if (types.length > 0) say(`no rights to read ${types.join(', ')}: see triscope node types`);
}

/** Where the log and the list of jobs lie. */
export function placeFrom(words: Words): LogPlace {
  const folder = stringOf(words, 'dir') ?? (process.env.TRISCOPE_NODE_DIR || LOG_FOLDER);
  const file = stringOf(words, 'jobid-file') ?? JOBID_FILE;
  return {
    log: new NodeLog(folder),
    pmc: {
      program: words.values['program-pmc'] === true,
      programming: new Programming(join(folder, 'registers'), say),
    },
    sources: { list: new JobList(join(folder, 'jobs')), file },
  };
}

/** What to collect. `named`: types beside those of --type. @throws UsageError */
export function collectionFrom(words: LogWords, named: readonly string[]): CollectionOptions {
  const root = rootFrom(words.values.root);
  const given = stringOf(words, 'deadline');
  const deadline = numberIn(given ?? String(DEADLINE), 0.001, LONGEST, false);
  if (deadline === null) {
    throw new UsageError(`--deadline ${given}: it is a number of seconds, at most ${LONGEST}`);
  }
  return {
    deadline: 1000 * deadline,
    types: [...named, ...words.only],
    without: words.without,
    style: styleFrom(words),
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
    const { didYouMean } = await import('./nearest.ts');
    const names = NODE_TYPES.map(({ name }) => name);
    throw new UsageError(error.message + didYouMean(error.type, names));
  }
}

/** @throws UsageError where an id cannot stand in a group's line */
export function idsFrom(value: string | undefined): string[] | null {
  return value === undefined ? null : idsIn(value);
}
