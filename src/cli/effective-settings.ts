/** All options of a run with the values that it has, as ROSS lists them in the README beside its files. */
import type { OptionSpec } from '../model/option.ts';
import { type RunConfig, SYNCHRONISERS } from '../sim/config.ts';
import { IGNORED_OPTIONS } from '../sim/engine-options.ts';
import type { InstrumentConfig, SampleModes } from '../sim/instrument/config.ts';
import type { OptionGroup, SingleValue } from './command.ts';

/** A title, and names with the text of their values. */
interface SettingsGroup {
  readonly title: string;
  readonly options: readonly (readonly [name: string, value: string | null])[];
}

const camel = (name: string) => name.replace(/-(\w)/g, (_, c: string) => c.toUpperCase());

const SEED = /^(core-)?rng-seed(\d)$/;

const modes = ({ gvt, rt, vt }: SampleModes) =>
  [gvt && 'gvt', rt && 'rt', vt && 'vt'].filter((mode) => mode !== false).join(',') || 0;

/** The value that the run used for an option that was not given. */
function fromRun(name: string, run: RunConfig, asked: InstrumentConfig): SingleValue | undefined {
  const seed = SEED.exec(name);
  if (seed !== null) return (seed[1] ? run.coreSeeds : run.seeds)[Number(seed[2]) - 1];
  const own: Readonly<Record<string, SingleValue>> = {
    synch: SYNCHRONISERS[run.synch],
    'engine-stats': modes(asked.engine),
    'model-stats': modes(asked.model),
    'pe-data': asked.levels.pe,
    'kp-data': asked.levels.kp,
    'lp-data': asked.levels.lp,
    'rt-interval': asked.rtInterval,
    'vt-samp-end': asked.vtEnd,
  };
  if (Object.hasOwn(own, name)) return own[name];
  const value = (run as unknown as Readonly<Record<string, unknown>>)[camel(name)];
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** Two decimals as C prints them, more where a value has more. */
const decimal = (x: number) => (Number(x.toFixed(2)) === x ? x.toFixed(2) : String(x));

function textOf(name: string, spec: OptionSpec, value: SingleValue): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (value === Number.POSITIVE_INFINITY) return spec.fallback ?? 'infinite';
  if (typeof value === 'number') return spec.kind === 'float' ? decimal(value) : String(value);
  // ROSS's own by its number; what is ours by its word.
  if (name === 'event-trace') return String(spec.words?.[value] ?? value);
  // As ROSS prints a text that nobody gave.
  return value === '' ? 'undefined' : value;
}

export function effectiveSettings(
  groups: readonly OptionGroup[],
  given: ReadonlyMap<string, SingleValue>,
  run: RunConfig,
  asked: InstrumentConfig,
): SettingsGroup[] {
  const all = groups
    .filter(({ options }) => Object.keys(options).length > 0)
    .map(({ title, options }) => ({
      title,
      options: Object.entries(options).map(([shown, spec]): readonly [string, string] => {
        if (Object.hasOwn(IGNORED_OPTIONS, shown) || spec.noEffect !== undefined) {
          return [shown, String(given.get(shown) ?? '-')];
        }
        // Two names of one option have one value.
        const name = spec.as ?? shown;
        const own = Object.hasOwn(run.options, name) ? run.options[name] : undefined;
        const value = own ?? fromRun(name, run, asked) ?? given.get(name) ?? spec.default;
        return [shown, textOf(name, spec, value)];
      }),
    }));
  const last = all.pop();
  return last === undefined
    ? []
    : [...all, { ...last, options: [...last.options, ['help', null] as const] }];
}
