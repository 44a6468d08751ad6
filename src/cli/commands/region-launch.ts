/** `triscope region launch`: a command with a controller beside it, and a report of where its time and energy went. */
import { didYouMean } from '../../model/nearest.ts';
import { float, text } from '../../model/option.ts';
import { ENV_FILTER, ENV_REPORT } from '../../model/region-layout.ts';
import { exitNow } from '../../os/exit.ts';
import { type LaunchedRank, launchedRank } from '../../os/mpi/launcher.ts';
import {
  type LaunchOptions,
  launch,
  launchMarked,
  type MarkedBy,
  markingEnvironment,
} from '../../region/controller/index.ts';
import { shimFolder } from '../../region/shims.ts';
import { unmarkedNotes } from '../../region/unmarked.ts';
import { callCommand } from '../call.ts';
import { type Call, type Command, command, type Given } from '../command.ts';
import {
  CONTROLLER_OPTIONS,
  checkTexts,
  failedStart,
  listOf,
  settingsFrom,
  tellJson,
} from '../controller-options.ts';
import { UsageError } from '../errors.ts';
import { GEOPM_OPTIONS, idleVariables, SECONDS } from '../geopm-options.ts';
import { launcherWords } from '../geopmlaunch-order.ts';
import {
  hostReport,
  joinHosts,
  pagesOfJob,
  peersOf,
  tellDone,
  waitForLocal,
} from '../launched-job.ts';

const NAME = 'region launch';
const AUTO = ['fs', 'http', 'fetch', 'sim'];
const SHIMS = ['mpi', 'openmp'] as const;

const OWN = {
  ...CONTROLLER_OPTIONS,
  auto: text('', 'mark Node’s asynchronous work: fs,http,fetch; sim: what the simulator does', {
    placeholder: 'LIST',
  }),
  'no-auto': text('', 'do not load the shim of: mpi, openmp', { placeholder: 'LIST' }),
  // The default is the time that Slurm grants before it kills.
  'kill-after': float(
    30,
    'SIGTERM, SIGINT, SIGHUP are passed to COMMAND, which is killed if it has not ended after this time, or after 1.5 s if it ignores them',
    SECONDS,
  ),
};

const OPTIONS = { ...GEOPM_OPTIONS, ...OWN };
type LaunchGiven = Given<typeof OPTIONS>;

/** @throws UsageError for a word that is none of `known` */
function wordsOf(option: string, text: string | undefined, known: readonly string[]): string[] {
  const list = listOf(text);
  const wrong = list.find((word) => !known.includes(word));
  if (wrong === undefined) return list;
  throw new UsageError(
    `${option} ${wrong}: must be one of ${known.join(', ')}${didYouMean(wrong, known)}`,
  );
}

/** Which shims are loaded, and which parts of a Node program are marked automatically. @throws UsageError */
function markedBy(given: LaunchGiven): MarkedBy {
  const without = wordsOf('--no-auto', given['no-auto'], SHIMS);
  if (given['geopm-ompt-disable']) without.push('openmp');
  const auto = wordsOf('--auto', given.auto, AUTO).join();
  const loaded = SHIMS.filter((name) => !without.includes(name));
  const shims = loaded.flatMap((name) => (name === 'openmp' ? ([name, 'gomp'] as const) : name));
  return { shims, ...(auto !== '' && { auto }) };
}

/** Under mpirun: one controller per host, in its first rank, and one report of all hosts. */
async function launchOnRank(
  rank: LaunchedRank,
  options: LaunchOptions,
  together: boolean,
  json: boolean,
): Promise<number> {
  const { settings, say } = options;
  const pages = pagesOfJob(rank.job);
  if (rank.localRank > 0) {
    const code = await launchMarked({ ...options, pages });
    tellDone(pages, rank);
    return code;
  }
  // With --geopm-ctl-local each host keeps its own.
  const report = together && rank.local < rank.size ? settings.report : undefined;
  const result = await launch({
    ...options,
    settings:
      report === undefined
        ? settings
        : { ...settings, report: hostReport(report, rank), peers: peersOf(report, rank) },
    pages,
    others: () => waitForLocal(pages, rank),
  });
  const { code, stuck } = result;
  if (report !== undefined) {
    const missing = await joinHosts(report, rank);
    if (missing !== null) say(missing);
  }
  if (json) tellJson(settings, result);
  if (stuck) exitNow(code);
  return code;
}

/** Whether `--` stands before the command. */
const isSeparated = ({ args, words }: Call<typeof OPTIONS, null>) =>
  args[args.length - words.length - 1] === '--';

/** Runs it. Returns the command's exit code. @throws UsageError */
async function run(call: Call<typeof OPTIONS, null>): Promise<number> {
  const { words: command, given } = call;
  const order = isSeparated(call) ? null : launcherWords(command);
  if (order !== null) {
    const own = call.args.slice(0, call.args.length - command.length);
    return callCommand(NAME, regionLaunch, [...own, ...order.options, '--', ...order.command]);
  }
  const say = (message: string) => process.stderr.write(`triscope: ${message}\n`);
  checkTexts(given);
  const settings = settingsFrom(given);
  const marked = markedBy(given);
  const notes = [
    ...idleVariables(process.env),
    ...call.notes,
    ...unmarkedNotes(command, marked.shims, shimFolder(), process.env.PATH ?? ''),
  ];
  if (process.env[ENV_REPORT] === settings.report) {
    notes.push(
      `${settings.report}: the enclosing region launch writes the same file later; name another with --geopm-report`,
    );
  }
  const json = given.json === true;
  // Of a launch beside each rank, the first speaks for all.
  if ((launchedRank()?.rank ?? 0) === 0) for (const note of notes) say(note);
  try {
    const filter = given['geopm-program-filter'];
    const env = {
      ...markingEnvironment(marked, process.env),
      ...(settings.report !== undefined && { [ENV_REPORT]: settings.report }),
      ...(filter !== undefined && { [ENV_FILTER]: filter }),
    };
    const killAfter = given['kill-after'] ?? OPTIONS['kill-after'].default;
    const rank = launchedRank();
    if (rank !== null && rank.size > 1)
      return await launchOnRank(
        rank,
        { command, settings, env, say, killAfter },
        !given['geopm-ctl-local'],
        json,
      );
    const result = await launch({ command, settings, env, say, killAfter });
    const { code, stuck } = result;
    if (json) tellJson(settings, result);
    if (stuck) exitNow(code);
    return code;
  } catch (error) {
    return failedStart(error, say);
  }
}

export const regionLaunch: Command = command({
  about:
    'Runs COMMAND, samples it and the machine, and writes GEOPM’s report. Ends with COMMAND’s exit code. Options may also be given as GEOPM’s variables, such as GEOPM_REPORT. mpirun … triscope region launch -- COMMAND samples each host once, and writes one report for all. The order of geopmlaunch works as well: a launcher, its options and GEOPM’s, -- and the program.',
  arguments: [
    { name: 'COMMAND', help: 'the program and its arguments', many: true, names: 'command' },
  ],
  options: OPTIONS,
  wraps: true,
  oneDash: true,
  examples: [
    'region launch -- ./program',
    'region launch --geopm-report=r --geopm-trace=t -- ./program 1',
    'region launch srun -N 1 -n 4 --geopm-report=r -- ./program 1',
  ],
  run,
});
