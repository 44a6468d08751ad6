/** `triscope node begin|end|collect|mark|rotate`: one sample into the log, or onto stdout. */
import { isJobId, jobHere } from '../../node/jobs.ts';
import { jobsOf, markOf, type Occasion, recordOnce } from '../../node/record.ts';
import { type Sampling, totalsOf } from '../../node/sampling.ts';
import { EXIT, UsageError } from '../errors.ts';
import {
  collectionFrom,
  flag,
  hostnameFor,
  idsFrom,
  LOG_HELP,
  LOG_OPTIONS,
  type LogPlace,
  type LogWords,
  openSampling,
  placeFrom,
  readLogWords,
  say,
  stringOf,
  styleFrom,
  tellRights,
  text,
} from '../node-log-options.ts';
import { Output } from '../output.ts';

type Kind = 'begin' | 'end' | 'collect' | 'mark' | 'rotate';

const USAGES: Readonly<Record<Kind, string>> = {
  begin: `usage: triscope node begin [JOB] [options]

A job begins: adds it to the jobs of this node, and takes a sample marked 'begin JOB'. JOB is
SLURM_JOB_ID or the job-id file's where it is not given.`,
  end: `usage: triscope node end [JOB] [options]

A job ends: takes a sample marked 'end JOB', and removes the job from the jobs of this node.`,
  collect: `usage: triscope node collect [TYPE…] [--print] [--mark TEXT] [options]

Appends one sample to the log: all types that this machine has, unless some are named.`,
  mark: `usage: triscope node mark TEXT [options]

Takes a sample that is marked TEXT.`,
  rotate: `usage: triscope node rotate [options]

Ends the current file. The next sample begins another; with --raw-version 2 one is taken at once.`,
};

const JOB_HELP =
  '  --job IDS          the jobs that run, separated by commas (-, none); else they are found out';
const SAMPLE_HELP = `  --mark TEXT        a mark for the sample (collect)
  --json             print the sample as one object; writes nothing to the log
  --print            print the sample as a file of its own, and leave the log alone; also where
                     --root is given without --dir`;
const ONLY_HELP =
  '  --only             no other job runs here any more: ends those whose end was missed';
const VERBOSE_HELP = '  -v, --verbose      say which types this machine lacks, and why';

const helpOf = (kind: Kind): string =>
  [
    ...[USAGES[kind], '', LOG_HELP, JOB_HELP],
    ...(kind === 'begin' ? [ONLY_HELP] : []),
    ...(kind === 'rotate' ? [] : [SAMPLE_HELP]),
    ...[VERBOSE_HELP, ''],
  ].join('\n');

/** A mark is one line: line ends become the two characters \n. */
const markFrom = (value: string) => value.replace(/\r\n|[\r\n]/g, '\\n');

/** What the command's words ask for. @throws UsageError */
function occasionFrom(kind: Kind, words: LogWords, file: string): Occasion {
  const { positionals } = words;
  const most = kind === 'rotate' ? 0 : 1;
  if (kind !== 'collect' && positionals.length > most) {
    throw new UsageError(`unexpected ${positionals[most]}; quote a text that has blanks`);
  }
  const mark = stringOf(words, 'mark');
  if (kind === 'collect') return { kind, ...(mark !== undefined && { mark: markFrom(mark) }) };
  if (mark !== undefined) throw new UsageError(`node ${kind} has a mark of its own, not --mark`);
  const [word] = positionals;
  if (kind === 'rotate') return { kind };
  if (kind === 'mark') {
    if (word === undefined) throw new UsageError('which text? triscope node mark TEXT');
    return { kind: 'collect', mark: markFrom(word) };
  }
  const job = word ?? jobHere(file);
  if (!isJobId(job)) throw new UsageError(`'${job}' is no job id: it may have no blanks or commas`);
  if (job === '0') throw new UsageError('job 0 stands for none: name the job');
  return { kind, job };
}

/** Says what could not be read of what was asked for; all that is missing with `all`. */
function tellAbsent({ collection }: Sampling, named: readonly string[], all: boolean): void {
  const isTold = (type: string) => all || named.includes(type) || collection.types.length === 0;
  for (const { type, reason } of collection.absent) {
    if (isTold(type)) say(`no records of type ${type}: ${reason}`);
  }
  tellRights(collection.absent.filter(({ type }) => !isTold(type)));
}

async function run(kind: Kind, args: readonly string[]): Promise<number> {
  const words = readLogWords(args, {
    ...LOG_OPTIONS,
    job: text,
    mark: { ...text, short: 'm' },
    print: flag,
    only: flag,
    stdout: flag,
    json: flag,
    verbose: { ...flag, short: 'v' },
  });
  if (words.values.help) {
    process.stdout.write(helpOf(kind));
    return 0;
  }
  const { json: asJson, print: asFile, stdout } = words.values;
  if (kind === 'rotate' && (asJson || asFile || stdout)) {
    throw new UsageError('node rotate prints nothing: --json and --print are for node collect');
  }
  const place = placeFrom(words);
  const occasion = occasionFrom(kind, words, place.sources.file);
  if (words.values.only && kind !== 'begin') throw new UsageError('--only is for node begin');
  if ((asJson || asFile || stdout) && place.pmc.program) {
    throw new UsageError(
      '--program-pmc is for what is kept: --print and --json write to no register',
    );
  }
  const style = styleFrom(words, place.log);
  if (kind === 'rotate' && style === '1.0') {
    place.log.locked(() => place.log.rotate());
    return 0;
  }
  const types = kind === 'collect' ? words.positionals : [];
  const options = collectionFrom(words, types);
  const { root } = options;
  const json = words.values.json === true;
  const prints = words.values.print || words.values.stdout || json || (root && !words.values.dir);
  const hostname = await hostnameFor(root, prints ? null : place.log);
  const without = prints ? [] : totalsOf(place.log);
  const sampling = await openSampling({
    ...options,
    hostname,
    ...(!prints && { style, without: [...(options.without ?? []), ...without] }),
  });
  const { collection } = sampling;
  tellAbsent(sampling, options.types ?? [], words.values.verbose === true);
  const failed = new Set<string>();
  const fail = ({ type, reason }: { type: string; reason: string }) => {
    failed.add(type);
    say(`no records of type ${type}: ${reason}`);
  };
  const jobs = idsFrom(stringOf(words, 'job'));
  try {
    // What runs on this machine is no job of a recorded tree.
    const known = jobs ?? (root === undefined ? null : []);
    if (prints) await print(sampling, occasion, known, place, fail, json);
    else {
      const only = words.values.only === true;
      const alone = 'job' in occasion ? { ...occasion, only } : occasion;
      recordOnce(place.log, sampling, place.sources, alone, jobs, fail, place.pmc);
    }
  } finally {
    sampling.close();
    place.log.close();
  }
  return collection.types.length > failed.size ? 0 : EXIT.failed;
}

async function print(
  sampling: Sampling,
  occasion: Occasion,
  jobs: readonly string[] | null,
  { sources }: LogPlace,
  fail: Parameters<typeof recordOnce>[5],
  json: boolean,
): Promise<void> {
  const ids = jobs ?? jobsOf(occasion, sources);
  const { bytes } = sampling.take(ids, markOf(occasion), fail);
  const file = Buffer.concat([sampling.head.bytes, bytes]);
  const output = new Output();
  if (json) {
    const { sampleFacts } = await import('../sample-facts.ts');
    output.write(`${JSON.stringify(sampleFacts(file), null, 2)}\n`);
  } else output.write(file.toString());
  output.flush();
}

type Run = (args: readonly string[]) => Promise<number>;

/** Each takes the words after its name, and returns the exit code. @throws UsageError, LogError */
export const nodeBegin: Run = (args) => run('begin', args);
export const nodeEnd: Run = (args) => run('end', args);
export const nodeCollect: Run = (args) => run('collect', args);
export const nodeMark: Run = (args) => run('mark', args);
export const nodeRotate: Run = (args) => run('rotate', args);
