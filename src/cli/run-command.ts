/** What `sim run` and `sim verify` share: the model and the settings that a command line asks for. */
import { Console } from 'node:console';
import type { OptionSpecs } from '../model/option.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import { ENGINE_OPTIONS } from '../sim/engine-options.ts';
import { type LoadedModel, loadModel, ModelNotFoundError } from '../sim/load-model.ts';
import { type Model, ModelError } from '../sim/model.ts';
import { BUILT_IN } from '../sim/models/index.ts';
import { CORE_SEEDS, MODEL_SEEDS, type Seeds } from '../sim/rng/clcg4.ts';
import type { Settings } from '../sim/settings.ts';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';
import { optionsHelp } from './options-help.ts';
import {
  engineGroups,
  type OptionGroup,
  type OptionValue,
  type ParsedOptions,
  parseOptions,
} from './ross-options.ts';

/** A command that runs a model, as it was called. */
export interface RunCommand {
  readonly loaded: LoadedModel;
  readonly settings: Settings;
  /** The command's own options. */
  readonly own: ReadonlyMap<string, OptionValue>;
}

/** All options of a command that runs a model, under their titles; the model's first. */
export function groupsFor(model: Model | null, own: readonly OptionGroup[]): OptionGroup[] {
  const engine = engineGroups(model);
  if (model === null) return [...engine, ...own];
  const taken = new Map(
    [...engine, ...own].flatMap((g) => Object.keys(g.options).map((n) => [n, g])),
  );
  const clash = Object.keys(model.options).find((name) => taken.has(name));
  if (clash !== undefined) {
    throw new ModelError(
      `model '${model.name}': its option --${clash} is also one of “${taken.get(clash)?.title}”; rename it`,
    );
  }
  return [{ title: `Model ${model.name}`, options: model.options }, ...engine, ...own];
}

function seedsOf(
  values: ReadonlyMap<string, OptionValue>,
  prefix: string,
  fallback: Seeds,
): Seeds | undefined {
  const names = fallback.map((_, k) => `${prefix}${k + 1}`);
  const given = names.filter((name) => values.has(name));
  if (given.length === 0) return undefined;
  if (given.length < names.length) {
    throw new UsageError(
      `--${given[0]} alone: ROSS takes all four seeds or none; add ${names
        .filter((name) => !values.has(name))
        .map((name) => `--${name}`)
        .join(', ')}`,
    );
  }
  return names.map((name) => values.get(name)) as unknown as Seeds;
}

/** Engine options whose setting has another name. */
const SEEDS = /^(core-)?rng-seed\d$/;
const camel = (name: string) => name.replace(/-(\w)/g, (_, c: string) => c.toUpperCase());

function settingsFrom({ values }: ParsedOptions, groups: readonly OptionGroup[]): Settings {
  const own: OptionSpecs = Object.assign({}, ...groups.map((group) => group.options));
  const settings: Record<string, OptionValue> = {};
  const options: Record<string, OptionValue> = {};
  for (const [name, value] of values) {
    if (Object.hasOwn(own, name) || SEEDS.test(name)) continue;
    if (Object.hasOwn(ENGINE_OPTIONS, name)) settings[camel(name)] = value;
    else options[name] = value;
  }
  const seeds = seedsOf(values, 'rng-seed', MODEL_SEEDS);
  const coreSeeds = seedsOf(values, 'core-rng-seed', CORE_SEEDS);
  return { ...settings, ...(seeds && { seeds }), ...(coreSeeds && { coreSeeds }), options };
}

async function load(name: string): Promise<LoadedModel> {
  try {
    return await loadModel(name);
  } catch (error) {
    if (!(error instanceof ModelNotFoundError)) throw error;
    throw new UsageError(error.message + didYouMean(name, Object.keys(BUILT_IN)));
  }
}

/** Sends what models print by `console` to stderr: with `--json`, stdout is one object. */
function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}

/**
 * Reads `MODEL [options]`, loads the model, and says on stderr which options have no effect. For `--help`
 * prints `usage` and all options, and gives null.
 * @throws UsageError, OptionError, ModelNotFoundError, ModelError
 */
export async function readRunCommand(
  args: readonly string[],
  usage: string,
  ...own: readonly OptionGroup[]
): Promise<RunCommand | null> {
  const [name, ...rest] = args;
  if (name === undefined) throw new UsageError(`which model? ${usage.split('\n')[0]}`);
  if (name.startsWith('-')) {
    if (name !== '-h' && name !== '--help') {
      throw new UsageError(`the model comes first, then options such as ${name}`);
    }
    process.stdout.write(optionsHelp(usage, groupsFor(null, own)));
    return null;
  }
  if (rest.some((word) => /^--json(=|$)/.test(word))) keepStdoutClean();
  const loaded = await load(name);
  try {
    const groups = groupsFor(loaded.model, own);
    const parsed = parseOptions(rest, groups);
    if (parsed.help) {
      const title =
        loaded.model.help === '' ? '' : `\n\n${loaded.model.name}: ${loaded.model.help}`;
      process.stdout.write(optionsHelp(usage.replace('MODEL', name) + title, groups));
      loaded.dispose();
      return null;
    }
    if (parsed.values.get('json') === true) keepStdoutClean();
    // Of the ranks of an MPI job one speaks for all.
    const speaks = (launchedRank()?.rank ?? 0) === 0;
    for (const note of speaks ? parsed.notes : []) process.stderr.write(`triscope: ${note}\n`);
    return { loaded, settings: settingsFrom(parsed, own), own: parsed.values };
  } catch (error) {
    loaded.dispose();
    throw error;
  }
}
