/** `triscope node begin|end|collect|mark|rotate`: one sample into the log, or onto stdout. */
import { flag, text } from '../../model/option.ts';
import { isJobId, jobHere } from '../../node/jobs.ts';
import { jobsOf, markOf, type Occasion, recordOnce } from '../../node/record.ts';
import { type Sampling, totalsOf } from '../../node/sampling.ts';
import { type Argument, type Call, command } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import {
  collectionFrom,
  hostnameFor,
  idsFrom,
  LOG_OPTIONS,
  type LogPlace,
  openSampling,
  placeFrom,
  say,
  styleFrom,
} from '../node-log-options.ts';
import { Output } from '../output.ts';
import { tellRights } from '../tell-rights.ts';

type Kind = 'begin' | 'end' | 'collect' | 'mark' | 'rotate';

const OPTIONS = {
  ...LOG_OPTIONS,
  job: text('', 'the running jobs, separated by commas (- for none); default: looked up', {
    placeholder: 'IDS',
  }),
  mark: text('', 'a mark for the sample of node collect', { short: 'm' }),
  only: flag(
    false,
    'with begin: end all other jobs of this node, such as those whose end was missed',
  ),
  json: flag(false, 'print the sample as one object; writes nothing to the log'),
  print: flag(
    false,
    'print the sample as a complete file and do not write the log; implied by --root without --dir',
  ),
  stdout: flag(false, '--print, as it was called', { hidden: true }),
  verbose: flag(false, 'say which types this machine lacks, and why', { short: 'v' }),
} as const;
type NodeCall = Call<typeof OPTIONS, null>;

/** A mark is one line: line ends become the two characters \n. */
const markFrom = (value: string) => value.replace(/\r\n|[\r\n]/g, '\\n');

/** The occasion of the sample, from the command's words. @throws UsageError */
function occasionFrom(kind: Kind, { words, given }: NodeCall, file: string): Occasion {
  const mark = given.mark;
  if (kind === 'collect') return { kind, ...(mark !== undefined && { mark: markFrom(mark) }) };
  if (mark !== undefined)
    throw new UsageError(`node ${kind} writes its own mark: leave --mark out`);
  const [word = ''] = words;
  if (kind === 'rotate') return { kind };
  if (kind === 'mark') {
    return { kind: 'collect', mark: markFrom(word) };
  }
  const job = word || jobHere(file);
  if (!isJobId(job))
    throw new UsageError(`'${job}' is not a job id: it must not contain blanks or commas`);
  if (job === '0') throw new UsageError('job 0 means no job: give the job’s id');
  return { kind, job };
}

/** Names the requested types that could not be read; with `all`, every missing type. */
function tellAbsent({ collection }: Sampling, named: readonly string[], all: boolean): void {
  const isTold = (type: string) => all || named.includes(type) || collection.types.length === 0;
  for (const { type, reason } of collection.absent) {
    if (isTold(type)) say(`no records of type ${type}: ${reason}`);
  }
  tellRights(
    collection.absent.filter(({ type }) => !isTold(type)),
    say,
  );
}

async function run(kind: Kind, call: NodeCall): Promise<number> {
  const { words, given } = call;
  const json = given.json === true;
  const asFile = given.print === true || given.stdout === true;
  if (kind === 'rotate' && (json || asFile)) {
    throw new UsageError('node rotate prints nothing: use --json and --print with node collect');
  }
  const place = placeFrom(given);
  const occasion = occasionFrom(kind, call, place.sources.file);
  if (given.only && kind !== 'begin') throw new UsageError('--only goes with node begin');
  if ((json || asFile) && place.pmc.program) {
    throw new UsageError('--program-pmc needs a log: leave out --print and --json');
  }
  const style = styleFrom(given, place.log);
  if (kind === 'rotate' && style === '1.0') {
    place.log.locked(() => place.log.rotate());
    return 0;
  }
  const types = kind === 'collect' ? words : [];
  const options = collectionFrom(given, types);
  const { root } = options;
  const prints = asFile || json || (root !== undefined && !given.dir);
  const hostname = await hostnameFor(root, prints ? null : place.log);
  const without = prints ? [] : totalsOf(place.log);
  const sampling = await openSampling({
    ...options,
    hostname,
    ...(!prints && { style, without: [...(options.without ?? []), ...without] }),
  });
  const { collection } = sampling;
  tellAbsent(sampling, options.types ?? [], given.verbose === true);
  const failed = new Set<string>();
  const fail = ({ type, reason }: { type: string; reason: string }) => {
    failed.add(type);
    say(`no records of type ${type}: ${reason}`);
  };
  const jobs = idsFrom(given.job);
  try {
    // Jobs of this machine are not jobs of a recorded tree.
    const known = jobs ?? (root === undefined ? null : []);
    if (prints) await print(sampling, occasion, known, place, fail, json);
    else {
      const alone = 'job' in occasion ? { ...occasion, only: given.only === true } : occasion;
      recordOnce(place.log, sampling, place.sources, alone, jobs, fail, place.pmc);
    }
    if (given.verbose) {
      for (const type of sampling.withoutRecords()) {
        if (!failed.has(type)) say(`no records of type ${type}: no device at present`);
      }
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

const JOB: Argument = {
  name: 'JOB',
  help: 'its id: SLURM_JOB_ID or the job-id file’s where it is not given',
  optional: true,
};

/** Each returns the exit code. @throws UsageError, LogError */
const declare = (kind: Kind, about: string, args: readonly Argument[], example: string) =>
  command({
    about,
    arguments: args,
    options: OPTIONS,
    examples: [`node ${kind}${example}`],
    run: (call) => run(kind, call),
  });

export const nodeBegin = declare(
  'begin',
  'A job begins: adds it to the jobs of this node, and takes a sample marked “begin JOB”.',
  [JOB],
  ' 1234',
);
export const nodeEnd = declare(
  'end',
  'A job ends: takes a sample marked “end JOB”, and removes the job from the jobs of this node.',
  [JOB],
  ' 1234',
);
export const nodeCollect = declare(
  'collect',
  'Appends one sample to the log: all types that this machine has, unless some are named.',
  [{ name: 'TYPE', help: 'only these types', optional: true, many: true, names: 'type' }],
  ' cpu mem --print',
);
export const nodeMark = declare(
  'mark',
  'Takes a sample that is marked TEXT.',
  [{ name: 'TEXT', help: 'the text, as one word of the shell' }],
  ' "phase two"',
);
export const nodeRotate = declare(
  'rotate',
  'Ends the current file. The next sample begins another; with --raw-version 2 one is taken at once.',
  [],
  '',
);
