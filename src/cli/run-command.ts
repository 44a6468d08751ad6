/** What `sim run` and `sim verify` share: the model and the settings that a command line asks for. */
import { Console } from 'node:console';
import { didYouMean } from '../model/nearest.ts';
import { type OptionSpec, type OptionSpecs, text } from '../model/option.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import {
  ARGS_FILE,
  ENGINE_GROUPS,
  ENGINE_OPTIONS,
  ENGINE_SYNONYMS,
  IGNORED_OPTIONS,
  ROSS_NAMES,
} from '../sim/engine-options.ts';
import { type LoadedModel, loadModel, ModelNotFoundError } from '../sim/load-model.ts';
import { type Model, ModelError } from '../sim/model.ts';
import { BUILT_IN } from '../sim/models/index.ts';
import { CORE_SEEDS, MODEL_SEEDS, type Seeds } from '../sim/rng/clcg4.ts';
import type { Settings } from '../sim/settings.ts';
import type { Call, Extension, Given, OptionGroup, SingleValue } from './command.ts';
import { UsageError } from './errors.ts';

/** A command that runs a model, as it was called. */
export interface RunCommand<O extends OptionSpecs> {
  readonly loaded: LoadedModel;
  readonly settings: Settings;
  /** The command's own options. */
  readonly own: Given<O>;
  /** All given values, in the order in which they were given last. */
  readonly values: ReadonlyMap<string, SingleValue>;
}

/** The engine's groups, with the defaults that `model` has of its own, without what `model` declares itself. */
export function engineGroups(model: Model | null): OptionGroup[] {
  const own: Readonly<Record<string, number | undefined>> = {
    end: model?.end,
    lookahead: model?.lookahead,
    warmup: model?.warmup,
  };
  const engine: OptionSpecs = { ...ENGINE_OPTIONS, ...IGNORED_OPTIONS, ...ENGINE_SYNONYMS };
  const spec = (name: string): OptionSpec => {
    const value = own[name];
    return value === undefined ? engine[name] : { ...engine[name], default: value };
  };
  // A model may declare an option whose name is an alias of an engine option.
  const shown = (name: string) =>
    !Object.hasOwn(ENGINE_SYNONYMS, name) || model?.options[name] === undefined;
  return ENGINE_GROUPS.map(({ title, names }) => ({
    title,
    options: Object.fromEntries(names.filter(shown).map((name) => [name, spec(name)])),
  }));
}

/** All options of a command that runs a model, under their titles; the model's first. */
export function groupsFor(model: Model | null, own: readonly OptionGroup[]): OptionGroup[] {
  return [...modelGroups(model, own), ...own];
}

/** The options that the model declares. `own`: the command's options, whose names a model may not use. @throws ModelError */
function modelGroups(model: Model | null, own: readonly OptionGroup[]): OptionGroup[] {
  const engine = engineGroups(model);
  if (model === null) return engine;
  const taken = new Map(
    [...engine, ...own].flatMap((g) => Object.keys(g.options).map((n) => [n, g])),
  );
  const clash = Object.keys(model.options).find((name) => taken.has(name));
  if (clash !== undefined) {
    throw new ModelError(
      `model '${model.name}': its option --${clash} is also one of “${taken.get(clash)?.title}”; rename it`,
    );
  }
  return [{ title: `Model ${model.name}`, options: model.options }, ...engine];
}

function seedsOf(
  values: ReadonlyMap<string, SingleValue>,
  prefix: string,
  fallback: Seeds,
): Seeds | undefined {
  const names = fallback.map((_, k) => `${prefix}${k + 1}`);
  const given = names.filter((name) => values.has(name));
  if (given.length === 0) return undefined;
  if (given.length < names.length) {
    throw new UsageError(
      `--${given[0]} given alone: ROSS takes all four seeds or none; add ${names
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

function settingsFrom(values: ReadonlyMap<string, SingleValue>, own: OptionSpecs): Settings {
  const settings: Record<string, SingleValue> = {};
  const options: Record<string, SingleValue> = {};
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

/** MODEL, and the options that it brings: for commands whose own are `own`. */
export const modelExtension =
  (own: readonly OptionGroup[]) =>
  async (first: string | null, rest: readonly string[]): Promise<Extension<LoadedModel | null>> => {
    if (first === null) {
      return { groups: modelGroups(null, own), about: '', value: null, dispose: () => {} };
    }
    if (rest.some((word) => /^--json(=|$)/.test(word))) keepStdoutClean();
    const loaded = await load(first);
    const { model, dispose } = loaded;
    try {
      const about = model.help === '' ? '' : `${model.name}: ${model.help}`;
      return { groups: modelGroups(model, own), about, value: loaded, dispose };
    } catch (error) {
      dispose();
      throw error;
    }
  };

/** What commands that run a model have in common. */
export const RUNS_MODEL = {
  arguments: [
    {
      name: 'MODEL',
      help: 'a built-in model (triscope sim models), or the path of a .js or .ts module',
      names: 'model',
    },
  ],
  prefixes: ROSS_NAMES,
  argsFile: ARGS_FILE,
} as const;

/** The option that every command of a model has. */
export const ARGS_FILE_OPTION = {
  [ARGS_FILE]: text('', 'read more options from a file: several per line, # starts a comment', {
    placeholder: 'FILE',
    names: 'input',
  }),
};

/** The model and settings of a call. Says on stderr which options have no effect. @throws UsageError */
export function runCommandOf<O extends OptionSpecs>(
  { given, values, notes, extension }: Call<O, LoadedModel | null>,
  options: O,
): RunCommand<O> {
  if (extension === null) throw new UsageError('which model?');
  // No option of a model, or of the engine, is a list.
  const single = values as ReadonlyMap<string, SingleValue>;
  if (single.get('json') === true) keepStdoutClean();
  // Only rank 0 of an MPI job prints notes.
  const speaks = (launchedRank()?.rank ?? 0) === 0;
  for (const note of speaks ? notes : []) process.stderr.write(`triscope: ${note}\n`);
  return {
    loaded: extension,
    settings: settingsFrom(single, options),
    own: given,
    values: single,
  };
}
