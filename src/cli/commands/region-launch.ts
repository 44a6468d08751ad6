/** `triscope region launch`: a command with a controller beside it, and a report of where its time and energy went. */
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { ENV_FILTER } from '../../model/region-layout.ts';
import { exitNow } from '../../os/exit.ts';
import { type LaunchedRank, launchedRank } from '../../os/mpi/launcher.ts';
import {
  LaunchError,
  type LaunchOptions,
  type LaunchResult,
  launch,
  launchMarked,
  type MarkedBy,
  markingEnvironment,
  savedControlsFolder,
} from '../../region/controller/index.ts';
import { EXIT, UsageError } from '../errors.ts';
import { type GeopmWords, geopmOptionsHelp, readGeopmWords } from '../geopm-options.ts';
import { hostReport, joinHosts, pagesOfJob, tellDone, waitForLocal } from '../launched-job.ts';
import { didYouMean } from '../nearest.ts';
import { version } from '../version.ts';

const OWN = {
  help: null,
  synthetic: null,
  root: 'DIR',
  'allow-control': null,
  'geopm-compat': null,
  live: null,
  json: null,
  auto: 'LIST',
  'no-auto': 'LIST',
  'save-every': 'S',
  'kill-after': 'S',
} as const;

const USAGE = `usage: triscope region launch [options] -- COMMAND…

Runs COMMAND, samples it and the machine, and writes GEOPM's report. Ends with COMMAND's exit code.
Options may also be given as GEOPM's variables, such as GEOPM_REPORT. mpirun … triscope region launch -- COMMAND
samples each host once, and makes one report of all.

${geopmOptionsHelp()}

  --synthetic                   demo energies, marked as such, where the machine has none
  --root DIR                    read the proc and sys of this folder
  --allow-control               let the agent write settings of the machine; they are put back
  --geopm-compat                GEOPM's own figures where its manual says otherwise
  --live                        say once a second where the program is
  --json                        at the end, an object on stdout: exit code, files, samples and how late they were
  --auto LIST                   mark Node's asynchronous work: fs,http,fetch; sim: what the simulator does
  --no-auto LIST                do not load the shim of: mpi, openmp
  --save-every S                between reports of what there is so far (5)
  --kill-after S                SIGTERM, SIGINT, SIGHUP go to COMMAND, which is killed where it has not ended by
                                then (30), and after 1.5 s where it ignores them`;

/** Seconds that a command has to end in order after a signal: what Slurm grants before it kills. */
const KILL_AFTER = 30;

/** Errors of the start that are about the command line. */
const USAGE_REASONS = new Set([
  'SignalError',
  'SettingsError',
  'PolicyError',
  'AgentError',
  'RecordFilterError',
]);

/** @throws UsageError where it is no number of seconds above `least` */
function seconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value >= 0.0001) || value > 86_400) {
    throw new UsageError(`${name} ${text}: it is a number of seconds from 0.0001 to 86400`);
  }
  return value;
}

const listOf = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

type InitControl = readonly [string, string, number, number];

/** Lines `CONTROL DOMAIN INDEX VALUE`; # begins a comment. @throws UsageError */
function initControls(path: string | undefined): InitControl[] {
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--geopm-init-control ${path}: ${(error as Error).message}`);
  }
  return text.split('\n').flatMap((line, k): InitControl[] => {
    const words = line.replace(/#.*/, '').trim().split(/\s+/);
    if (words[0] === '') return [];
    const [control, domain, index, value] = words;
    if (words.length !== 4 || !/^\d+$/.test(index) || Number.isNaN(Number(value))) {
      throw new UsageError(`${path}: line ${k + 1}: it is CONTROL DOMAIN INDEX VALUE`);
    }
    return [[control, domain, Number(index), Number(value)]];
  });
}

/** @throws UsageError where it is no folder */
function rootFrom(root: string | undefined): string | undefined {
  if (root === undefined || statSync(root, { throwIfNoEntry: false })?.isDirectory()) return root;
  throw new UsageError(`--root ${root}: there is no such folder`);
}

/** What the controller is told, from the words. @throws UsageError */
function settingsFrom({ values, own }: GeopmWords) {
  const host = hostname();
  const report = values.get('geopm-report') ?? 'geopm.report';
  const onHost = (base: string | undefined) =>
    base === undefined ? undefined : resolve(`${base}-${host}`);
  return {
    host,
    version: `triscope-${version()}`,
    profile: values.get('geopm-profile') ?? 'default',
    agent: values.get('geopm-agent') ?? 'monitor',
    period: seconds('--geopm-period', values.get('geopm-period')),
    timeout: seconds('--geopm-timeout', values.get('geopm-timeout')) ?? 30,
    policy: values.get('geopm-policy'),
    endpoint: values.get('geopm-endpoint'),
    report: values.has('geopm-ctl-local') ? onHost(report) : resolve(report),
    trace: onHost(values.get('geopm-trace')),
    profileTrace: onHost(values.get('geopm-trace-profile')),
    reportSignals: listOf(values.get('geopm-report-signals')),
    traceSignals: listOf(values.get('geopm-trace-signals')),
    initControls: initControls(values.get('geopm-init-control')),
    recordFilter: values.get('geopm-record-filter'),
    root: rootFrom(own.get('root')),
    synthetic: own.has('synthetic'),
    allowControl: own.has('allow-control'),
    compat: own.has('geopm-compat'),
    live: own.has('live'),
    saveEvery: seconds('--save-every', own.get('save-every')) ?? 5,
    savedControls: join(savedControlsFolder(), `${host}-${process.pid}.json`),
  };
}

const AUTO = ['fs', 'http', 'fetch', 'sim'];
const SHIMS = ['mpi', 'openmp'] as const;

/** @throws UsageError for a word that is none of `known` */
function wordsOf(option: string, text: string | undefined, known: readonly string[]): string[] {
  const list = listOf(text);
  const wrong = list.find((word) => !known.includes(word));
  if (wrong === undefined) return list;
  throw new UsageError(`${option} ${wrong}: it is one of ${known.join(', ')}`);
}

/** Which shims are loaded, and what of Node is marked. @throws UsageError */
function markedBy({ values, own }: GeopmWords): MarkedBy {
  const without = wordsOf('--no-auto', own.get('no-auto'), SHIMS);
  if (values.has('geopm-ompt-disable')) without.push('openmp');
  const auto = wordsOf('--auto', own.get('auto'), AUTO).join();
  const shims = SHIMS.filter((name) => !without.includes(name));
  return { shims, ...(auto !== '' && { auto }) };
}

/** One line, behind what the command itself printed. */
function tellJson(settings: LaunchOptions['settings'], { code, punctuality }: LaunchResult): void {
  const { report, trace, profileTrace } = settings;
  const files = { report, trace: trace ?? null, profileTrace: profileTrace ?? null };
  const facts = { exitCode: code, ...files, sampling: punctuality };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
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
    settings: report === undefined ? settings : { ...settings, report: hostReport(report, rank) },
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

/** Runs it. Returns the command's exit code. @throws UsageError */
export async function regionLaunch(args: readonly string[]): Promise<number> {
  const words = readGeopmWords(args, OWN, process.env);
  if (words.own.has('help')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const say = (message: string) => process.stderr.write(`triscope: ${message}\n`);
  if (words.command.length === 0) {
    throw new UsageError('region launch needs a command: triscope region launch -- COMMAND');
  }
  const settings = settingsFrom(words);
  const json = words.own.has('json');
  for (const note of words.notes) say(note);
  try {
    const { command } = words;
    const filter = words.values.get('geopm-program-filter');
    const env = {
      ...markingEnvironment(markedBy(words), process.env),
      ...(filter !== undefined && { [ENV_FILTER]: filter }),
    };
    const killAfter = seconds('--kill-after', words.own.get('kill-after')) ?? KILL_AFTER;
    const rank = launchedRank();
    if (rank !== null && rank.size > 1)
      return await launchOnRank(
        rank,
        { command, settings, env, say, killAfter },
        !words.values.has('geopm-ctl-local'),
        json,
      );
    const result = await launch({ command, settings, env, say, killAfter });
    const { code, stuck } = result;
    if (json) tellJson(settings, result);
    if (stuck) exitNow(code);
    return code;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    if (USAGE_REASONS.has(error.reason)) {
      throw new UsageError(error.message + didYouMean(error.given, error.names));
    }
    say(error.message);
    if (error.stuck) exitNow(EXIT.failed);
    return EXIT.failed;
  }
}
