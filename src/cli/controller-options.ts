/** Options that `region launch` and `region attach` share, and the controller's settings made of them. */
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { didYouMean } from '../model/nearest.ts';
import { flag, float, type OptionSpecs } from '../model/option.ts';
import { exitNow } from '../os/exit.ts';
import { readPlain, readReason } from '../os/plain-file.ts';
import {
  type ControllerSettings,
  LaunchError,
  type LaunchResult,
  savedControlsFolder,
} from '../region/controller/index.ts';
import type { Given } from './command.ts';
import { EXIT, UsageError } from './errors.ts';
import { GEOPM_OPTIONS, SECONDS } from './geopm-options.ts';
import { ROOT, rootFrom } from './root-option.ts';
import { version } from './version.ts';

/** Beside GEOPM's. */
export const CONTROLLER_OPTIONS = {
  synthetic: flag(false, 'demo energies, marked as such, if the machine has none'),
  root: ROOT,
  'allow-control': flag(
    false,
    'let the agent write settings of the machine; they are restored at the end',
  ),
  'geopm-compat': flag(false, 'GEOPM’s own figures where they differ from its manual'),
  live: flag(false, 'print the program’s current regions once a second'),
  json: flag(false, 'at the end, print an object: exit code, files, samples and their lateness'),
  'save-every': float(5, 'time between reports of what there is so far', SECONDS),
} as const satisfies OptionSpecs;

const OPTIONS = { ...GEOPM_OPTIONS, ...CONTROLLER_OPTIONS };
type ControllerGiven = Given<typeof OPTIONS>;

/** Words between commas. */
export const listOf = (text: string | undefined) =>
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
    text = readPlain(path);
  } catch (error) {
    throw new UsageError(`--geopm-init-control ${path}: ${readReason(error)}`);
  }
  return text.split('\n').flatMap((line, k): InitControl[] => {
    const words = line.replace(/#.*/, '').trim().split(/\s+/);
    if (words[0] === '') return [];
    const [control, domain, index, value] = words;
    if (words.length !== 4 || !/^\d+$/.test(index) || Number.isNaN(Number(value))) {
      throw new UsageError(`${path}: line ${k + 1}: must be CONTROL DOMAIN INDEX VALUE`);
    }
    return [[control, domain, Number(index), Number(value)]];
  });
}

/** The controller's settings, from the options. @throws UsageError */
export function settingsFrom(given: ControllerGiven) {
  const host = hostname();
  const report = given['geopm-report'] ?? 'geopm.report';
  const onHost = (base: string | undefined) =>
    base === undefined ? undefined : resolve(`${base}-${host}`);
  return {
    host,
    version: `triscope-${version()}`,
    profile: given['geopm-profile'] ?? 'default',
    agent: given['geopm-agent'] ?? 'monitor',
    period: given['geopm-period'],
    timeout: given['geopm-timeout'] ?? OPTIONS['geopm-timeout'].default,
    policy: given['geopm-policy'],
    endpoint: given['geopm-endpoint'],
    report: given['geopm-ctl-local'] ? onHost(report) : resolve(report),
    trace: onHost(given['geopm-trace']),
    profileTrace: onHost(given['geopm-trace-profile']),
    reportSignals: listOf(given['geopm-report-signals']),
    traceSignals: listOf(given['geopm-trace-signals']),
    initControls: initControls(given['geopm-init-control']),
    recordFilter: given['geopm-record-filter'],
    root: rootFrom(given.root),
    synthetic: given.synthetic === true,
    allowControl: given['allow-control'] === true,
    compat: given['geopm-compat'] === true,
    live: given.live === true,
    saveEvery: given['save-every'] ?? OPTIONS['save-every'].default,
    savedControls: join(savedControlsFolder(), `${host}-${process.pid}.json`),
  };
}

/** One line, after what the command itself printed. */
export function tellJson(
  settings: Omit<ControllerSettings, 'pages'>,
  { code, punctuality }: LaunchResult,
): void {
  const { report, trace, profileTrace } = settings;
  const files = { report, trace: trace ?? null, profileTrace: profileTrace ?? null };
  const facts = { exitCode: code, ...files, sampling: punctuality };
  process.stdout.write(`${JSON.stringify(facts)}\n`);
}

/** Refuses options that were given an empty text. @throws UsageError */
export function checkTexts(given: Readonly<Record<string, unknown>>): void {
  const empty = Object.entries(given).find(([, value]) => value === '');
  if (empty !== undefined) throw new UsageError(`--${empty[0]} needs a value: it is empty`);
}

/** A controller that did not start: prints why, and returns the exit code. @throws UsageError where the words are wrong */
export function failedStart(error: unknown, say: (message: string) => void): number {
  if (!(error instanceof LaunchError)) throw error;
  if (error.exitCode === EXIT.usage) {
    throw new UsageError(error.message + didYouMean(error.given, error.names));
  }
  say(error.message);
  if (error.stuck) exitNow(EXIT.failed);
  return EXIT.failed;
}
