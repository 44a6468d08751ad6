/** The settings of runs. They are compared before any number, since numbers of runs that did different work cannot be judged. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readRecording } from '../../formats/joined-recording.ts';
import type { Recording } from '../../model/recording.ts';

/** Kinds of settings, in the order in which they are shown. */
const SETTING_KINDS = ['command', 'model', 'option', 'machine', 'version'] as const;

export interface RunSetting {
  readonly kind: (typeof SETTING_KINDS)[number];
  readonly key: string;
  readonly value: string;
}

/** A setting that A and B differ in. */
export interface SettingChange extends Omit<RunSetting, 'value'> {
  /** Of several runs each value once; null where no run of the side has it. */
  readonly a: string | null;
  readonly b: string | null;
}

/** Keys of a simulation's result that are settings. */
const OF_RESULT: readonly (readonly [string, string])[] = [
  ['model', 'model'],
  ['synchroniser', 'synchroniser'],
  ['pes', 'PEs'],
  ['kps', 'KPs'],
  ['lps', 'LPs'],
  ['mapping', 'mapping'],
  ['end', 'end'],
  ['seed', 'seeds'],
];
/** Names of the keys above, which are shown as settings, not as facts. */
export const OF_SETTINGS: ReadonlySet<string> = new Set([
  ...OF_RESULT.map(([, key]) => key),
  ...['command', 'hosts'],
]);

/** Options that say where a recording goes, which differs each time. */
const PLACES = /^(record|output|out|o)$/;

/** `--name=value` and `--name value` as options, up to a program that is started; all other words as the command. */
function ofCommand(words: readonly string[]): RunSetting[] {
  const told: string[] = [];
  const settings: RunSetting[] = [];
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  for (let k = 0; k < own.length; k++) {
    const [, name, joined] = /^--?([a-z][\w-]*)(?:=(.*))?$/is.exec(own[k]) ?? [];
    if (name === undefined) {
      told.push(k === 0 ? basename(own[k]) : own[k]);
      continue;
    }
    const next = own[k + 1] ?? '-';
    const value = joined ?? (next.startsWith('-') ? 'given' : next);
    if (joined === undefined && value === next) k++;
    if (!PLACES.test(name)) settings.push({ kind: 'option', key: `--${name}`, value });
  }
  const program = end < 0 ? [] : words.slice(end);
  const command = [...told, ...program].join(' ');
  return [
    ...(command === '' ? [] : [{ kind: 'command' as const, key: 'command', value: command }]),
    ...settings,
  ];
}

function ofMachine({ hosts, madeBy }: Recording): RunSetting[] {
  const all = (key: string, values: readonly (string | number)[]): RunSetting[] =>
    values.length === 0 ? [] : [{ kind: 'machine', key, value: [...new Set(values)].join(', ') }];
  return [
    ...all(
      'hosts',
      hosts.map(({ name }) => name),
    ),
    ...all(
      'processors',
      hosts.map(({ cpuModel }) => cpuModel),
    ),
    ...all(
      'CPUs',
      hosts.map(({ cpus }) => cpus),
    ),
    ...all(
      'memory, GiB',
      hosts.map(({ memory }) => Number((memory / 2 ** 30).toPrecision(3))),
    ),
    ...all(
      'system',
      hosts.map(({ platform, arch }) => `${platform} ${arch}`),
    ),
    { kind: 'version', key: 'triscope', value: madeBy.triscope },
    { kind: 'version', key: 'node', value: madeBy.node },
  ];
}

function resultOf(path: string): Readonly<Record<string, unknown>> {
  try {
    const result: unknown = JSON.parse(readFileSync(join(path, 'sim-result.json'), 'utf8'));
    return typeof result === 'object' && result !== null ? { ...result } : {};
  } catch {
    // Only finished simulations have a result.
    return {};
  }
}

/** Of a recording; none of loose files. */
export function settingsOf(path: string): readonly RunSetting[] {
  let recording: Recording | undefined;
  try {
    recording = readRecording(path)?.recording;
  } catch {
    // Opening the recording has already reported what is wrong.
  }
  if (recording === undefined) return [];
  const result = resultOf(path);
  const ofModel = OF_RESULT.flatMap(([name, key]): RunSetting[] => {
    const value = result[name];
    const known = typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
    return known ? [{ kind: 'model', key, value: String(value) }] : [];
  });
  return [...ofCommand(recording.madeBy.command), ...ofModel, ...ofMachine(recording)];
}

/** The settings in which two sides differ, in the order of their kinds. */
export function compareSettings(
  a: readonly (readonly RunSetting[])[],
  b: readonly (readonly RunSetting[])[],
): readonly SettingChange[] {
  const names = new Map(
    [...a, ...b].flat().map(({ kind, key }) => [`${kind} ${key}`, { kind, key }]),
  );
  const valueIn = (side: typeof a, name: string): string | null => {
    const values = side.flatMap((run) =>
      run.flatMap(({ kind, key, value }) => (`${kind} ${key}` === name ? [value] : [])),
    );
    return values.length === 0 ? null : [...new Set(values)].join(' or ');
  };
  const isTold = (side: typeof a) => side.some((run) => run.length > 0);
  if (!isTold(a) || !isTold(b)) return [];
  return [...names]
    .map(([name, about]) => ({ ...about, a: valueIn(a, name), b: valueIn(b, name) }))
    .filter((one) => one.a !== one.b)
    .sort((x, y) => SETTING_KINDS.indexOf(x.kind) - SETTING_KINDS.indexOf(y.kind));
}

/** Why neither A nor B can be called better, a sentence each: they did not do the same work. */
export function unlikeness(changes: readonly SettingChange[]): readonly string[] {
  const of = (kind: RunSetting['kind'], key: string) =>
    changes.find((one) => one.kind === kind && one.key === key && one.a !== null && one.b !== null);
  const model = of('model', 'model');
  if (model !== undefined) {
    return [
      `A and B are unlike: A simulates ${model.a}, B ${model.b}. The numbers below do not tell which is better.`,
    ];
  }
  const command = of('command', 'command');
  if (command === undefined) return [];
  return [
    `A and B ran different commands: “${command.a}” and “${command.b}”. Where these do other work, the numbers below do not tell which is better.`,
  ];
}
