/**
 * Frequency of the parts of a package outside of its cores (mesh, last-level cache, memory controllers), with its limits, on Intel's
 * servers. A package has one folder per die. Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst.
 */
import type { Machine } from '../machine.ts';
import type { Tick } from '../tick.ts';
import {
  type Control,
  type ControlDeclaration,
  NOTHING,
  type Provider,
  type Signal,
  type SignalDeclaration,
} from './provider.ts';
import { meanOf, scaled } from './sum-of.ts';

const FOLDER = 'sys/devices/system/cpu/intel_uncore_frequency';
const KILO = 1e3;

type File = SignalDeclaration & { readonly file: string };

const frequency = (
  name: string,
  file: string,
  description: string,
  rest: Partial<SignalDeclaration> = {},
): File => ({
  name: `UNCORE::${name}`,
  description,
  unit: 'Hz',
  domain: 'package',
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
  file,
  ...rest,
});

const FILES: readonly File[] = [
  frequency('FREQUENCY', 'current_freq_khz', 'Frequency of the package outside its cores', {
    alias: 'CPU_UNCORE_FREQUENCY_STATUS',
  }),
  frequency('FREQUENCY_MAX', 'max_freq_khz', 'Largest frequency allowed outside the cores', {
    alias: 'CPU_UNCORE_FREQUENCY_MAX',
  }),
  frequency('FREQUENCY_MIN', 'min_freq_khz', 'Least frequency allowed outside the cores', {
    alias: 'CPU_UNCORE_FREQUENCY_MIN',
  }),
  frequency(
    'INITIAL_FREQUENCY_MAX',
    'initial_max_freq_khz',
    'Largest frequency allowed outside the cores when the system started',
    { behaviour: 'constant' },
  ),
  frequency(
    'INITIAL_FREQUENCY_MIN',
    'initial_min_freq_khz',
    'Least frequency allowed outside the cores when the system started',
    { behaviour: 'constant' },
  ),
];

const LIMITS: readonly (ControlDeclaration & { readonly file: string })[] = [
  {
    name: 'UNCORE::FREQUENCY_MAX',
    alias: 'CPU_UNCORE_FREQUENCY_MAX_CONTROL',
    description: 'Largest frequency allowed outside the cores',
    unit: 'Hz',
    domain: 'package',
    over: 'same',
    file: 'max_freq_khz',
  },
  {
    name: 'UNCORE::FREQUENCY_MIN',
    alias: 'CPU_UNCORE_FREQUENCY_MIN_CONTROL',
    description: 'Least frequency allowed outside the cores',
    unit: 'Hz',
    domain: 'package',
    over: 'same',
    file: 'min_freq_khz',
  },
];

interface Die {
  readonly folder: string;
  /** Index of its package. */
  readonly index: number;
}

/** `package_00_die_00`; newer drivers also have `uncore00` with the package's number in a file. If there are such folders, they count. */
function diesOf(machine: Machine): Die[] {
  const named = (pattern: RegExp, packageOf: (folder: string, name: string) => number) =>
    machine
      .list(FOLDER, pattern)
      .map(
        (name): Die => ({
          folder: `${FOLDER}/${name}`,
          index: packageOf(`${FOLDER}/${name}`, name),
        }),
      )
      .filter(({ index }) => machine.topology.has('package', index));
  const clusters = named(/^uncore\d+$/, (folder) => machine.number(`${folder}/package_id`));
  if (clusters.length > 0) return clusters;
  return named(/^package_\d+_die_\d+$/, (_, name) => Number(name.split('_')[1]));
}

const text = (hertz: number): string => {
  if (!(hertz > 0)) throw new RangeError(`${hertz} Hz is not above 0`);
  return String(Math.round(hertz / KILO));
};

export const uncore: Provider = {
  name: 'uncore',
  source: '/sys/devices/system/cpu/intel_uncore_frequency (never run on hardware)',
  declares: FILES.map(({ file: _f, ...declaration }) => declaration),
  controls: LIMITS.map(({ file: _f, ...declaration }) => declaration),
  open({ machine }) {
    const dies = diesOf(machine);
    if (dies.length === 0) return NOTHING;
    const ofPackage = (index: number) => dies.filter((die) => die.index === index);
    const signals = FILES.flatMap(({ file, ...declaration }): Signal[] => {
      const having = dies.filter(({ folder }) => machine.number(`${folder}/${file}`) > 0);
      if (having.length === 0) return [];
      const open = (index: number, tick: Tick) =>
        meanOf(
          ofPackage(index)
            .filter((die) => having.includes(die))
            .map(({ folder }) => scaled(tick.file(`${folder}/${file}`), KILO)),
        );
      return [{ ...declaration, open }];
    });
    const controls = LIMITS.map(
      ({ file, ...declaration }): Control => ({
        ...declaration,
        settings: (index) =>
          ofPackage(index)
            .map(({ folder }) => `${folder}/${file}`)
            .filter((path) => machine.exists(path))
            .map((path) => ({ path: machine.path(path), text })),
      }),
    );
    const usable = controls.filter((c) => dies.some(({ index }) => c.settings(index).length > 0));
    return { signals, controls: usable };
  },
};
