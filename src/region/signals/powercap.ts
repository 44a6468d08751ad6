/**
 * RAPL through the kernel's powercap framework: energies that any user may read where the administrator lets them,
 * and power limits. A zone whose `enabled` is 0 is absent, unless its counter is seen to run when it is opened: where the
 * file speaks of the limit only, energy is counted all the same.
 * Source: Documentation/power/powercap/powercap.rst.
 */
import type { Machine } from '../machine.ts';
import type { Tick } from '../tick.ts';
import {
  type Control,
  type ControlDeclaration,
  type ControlSetting,
  NOTHING,
  type Provider,
  type Signal,
  type SignalDeclaration,
  type SignalReader,
} from './provider.ts';
import { totalOfFile } from './running-total.ts';
import { scaled, sumOf } from './sum-of.ts';

const CLASS = 'sys/class/powercap';
const MICRO = 1e-6;
/** Milliseconds in which a running counter moves: it is updated each millisecond. */
const PROBE_MS = 3;

type Kind = 'package' | 'dram' | 'core' | 'uncore' | 'psys';

interface Zone {
  /** Such as `sys/class/powercap/intel-rapl:0`. */
  readonly folder: string;
  readonly kind: Kind;
  /** Index of the package; 0 for psys. */
  readonly index: number;
  /** Counts although its `enabled` is 0. */
  readonly runs: boolean;
}

const energy = (name: string, of: string, domain: 'package' | 'board', alias?: string) =>
  ({
    name: `POWERCAP::${name}`,
    ...(alias && { alias }),
    description: `Energy used by ${of}, since its counter's last overflow before the first sample`,
    unit: 'J',
    domain,
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
  }) as const satisfies SignalDeclaration;

const ENERGIES: Readonly<Record<Kind, SignalDeclaration>> = {
  package: energy('PACKAGE_ENERGY', 'the package', 'package', 'CPU_ENERGY'),
  dram: energy('DRAM_ENERGY', "the package's memory", 'package', 'DRAM_ENERGY'),
  core: energy('CORE_ENERGY', "the package's cores", 'package'),
  uncore: energy('UNCORE_ENERGY', 'the package outside its cores, often a GPU', 'package'),
  psys: energy('PSYS_ENERGY', 'the whole platform', 'board', 'BOARD_ENERGY'),
};

const LIMIT: SignalDeclaration = {
  name: 'POWERCAP::PACKAGE_POWER_LIMIT',
  alias: 'CPU_POWER_LIMIT',
  description: 'Long-term power limit in force',
  unit: 'W',
  domain: 'package',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
};

const MOST: SignalDeclaration = {
  name: 'POWERCAP::PACKAGE_MAX_POWER',
  alias: 'CPU_POWER_LIMIT_DEFAULT',
  description: 'Largest long-term power limit: the thermal design power',
  unit: 'W',
  domain: 'package',
  behaviour: 'constant',
  aggregation: 'sum',
  format: 'double',
};

const LEAST: SignalDeclaration = {
  name: 'POWERCAP::PACKAGE_MIN_POWER',
  alias: 'CPU_POWER_MIN_AVAIL',
  description: 'Least long-term power limit',
  unit: 'W',
  domain: 'package',
  behaviour: 'constant',
  aggregation: 'sum',
  format: 'double',
};

const BOARD_LIMIT: SignalDeclaration = {
  name: 'POWERCAP::PSYS_POWER_LIMIT',
  alias: 'BOARD_POWER_LIMIT',
  description: 'Long-term power limit of the whole platform in force',
  unit: 'W',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
};

/** Files of the long-term constraint, by the zones that they are of. */
const LIMIT_FILES = [
  [LIMIT, 'power_limit_uw', 'package'],
  [MOST, 'max_power_uw', 'package'],
  [LEAST, 'min_power_uw', 'package'],
  [BOARD_LIMIT, 'power_limit_uw', 'psys'],
] as const;

const LIMIT_CONTROL: ControlDeclaration = {
  name: 'POWERCAP::PACKAGE_POWER_LIMIT',
  alias: 'CPU_POWER_LIMIT_CONTROL',
  description: 'Long-term power limit; one for the board is shared evenly by its packages',
  unit: 'W',
  domain: 'package',
  over: 'share',
};

const WINDOW_CONTROL: ControlDeclaration = {
  name: 'POWERCAP::PACKAGE_TIME_WINDOW',
  alias: 'CPU_POWER_TIME_WINDOW_CONTROL',
  description: 'Time over which the long-term power limit is kept as a mean',
  unit: 's',
  domain: 'package',
  over: 'same',
};

const BOARD_LIMIT_CONTROL: ControlDeclaration = {
  name: 'POWERCAP::PSYS_POWER_LIMIT',
  alias: 'BOARD_POWER_LIMIT_CONTROL',
  description: 'Long-term power limit of the whole platform',
  unit: 'W',
  domain: 'board',
  over: 'same',
};

const BOARD_WINDOW_CONTROL: ControlDeclaration = {
  name: 'POWERCAP::PSYS_TIME_WINDOW',
  alias: 'BOARD_POWER_TIME_WINDOW_CONTROL',
  description: "Time over which the platform's long-term power limit is kept as a mean",
  unit: 's',
  domain: 'board',
  over: 'same',
};

const CONTROLS = [LIMIT_CONTROL, WINDOW_CONTROL, BOARD_LIMIT_CONTROL, BOARD_WINDOW_CONTROL];

/** Zones of both levels; those of the memory-mapped interface count the same again, so the first of a kind wins. */
function zonesOf(machine: Machine): Zone[] {
  const folders = new Map<string, string>();
  const visit = (folder: string) => {
    for (const name of machine.list(folder, /^intel-rapl(-mmio)?(:[0-9a-z]+)+$/)) {
      if (!folders.has(name)) folders.set(name, `${folder}/${name}`);
      if (folder === CLASS) visit(`${folder}/${name}`);
    }
  };
  visit(CLASS);
  const packageOf = (name: string) => /^package-(\d+)/.exec(name)?.[1];
  const zones: Zone[] = [];
  const isSecond = ([id]: readonly [string, string]) => Number(id.startsWith('intel-rapl-mmio'));
  for (const [id, folder] of [...folders].sort((a, b) => isSecond(a) - isSecond(b))) {
    const name = machine.text(`${folder}/name`) ?? '';
    const own = packageOf(name);
    const parent = folders.get(id.slice(0, id.lastIndexOf(':'))) ?? '';
    const inside = packageOf(machine.text(`${parent}/name`) ?? '');
    const kind = own === undefined ? name : 'package';
    if (!Object.hasOwn(ENERGIES, kind)) continue;
    const index = kind === 'psys' ? 0 : Number(own ?? inside);
    if (kind !== 'psys' && !machine.topology.has('package', index)) continue;
    const twin = (zone: Zone) => zone.kind === kind && zone.index === index;
    if (isSecond([id, folder]) && zones.some(twin)) continue;
    zones.push({ folder, kind: kind as Kind, index, runs: false });
  }
  return zones;
}

const isDisabled = (machine: Machine, { folder }: Zone) =>
  machine.text(`${folder}/enabled`) === '0';

/** The zones that count. */
function running(machine: Machine, zones: readonly Zone[]): Zone[] {
  const readable = zones.filter((zone) => machine.number(`${zone.folder}/energy_uj`) >= 0);
  const disabled = readable.filter((zone) => isDisabled(machine, zone));
  const before = disabled.map((zone) => machine.text(`${zone.folder}/energy_uj`));
  if (disabled.length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PROBE_MS);
  const moved = new Set(
    disabled.filter((zone, k) => machine.text(`${zone.folder}/energy_uj`) !== before[k]),
  );
  return readable
    .filter((zone) => !disabled.includes(zone) || moved.has(zone))
    .map((zone) => ({ ...zone, runs: moved.has(zone) }));
}

function energyReader(machine: Machine, zone: Zone, tick: Tick): SignalReader {
  const range = machine.number(`${zone.folder}/max_energy_range_uj`);
  const turn = range > 0 ? range + 1 : 0;
  const total = totalOfFile(tick, tick.file(`${zone.folder}/energy_uj`), MICRO, turn);
  if (zone.runs || !machine.exists(`${zone.folder}/enabled`)) return total;
  const enabled = tick.file(`${zone.folder}/enabled`);
  return { read: () => (enabled.number() === 0 ? Number.NaN : total.read()) };
}

/** Number of the constraint called `long_term`; 0 where none is. */
function longTerm(machine: Machine, folder: string): number {
  const names = machine.list(folder, /^constraint_\d+_name$/);
  const at = names.findIndex((name) => machine.text(`${folder}/${name}`) === 'long_term');
  return at < 0 ? 0 : Number(names[at].split('_')[1]);
}

function micro(unit: string): (value: number) => string {
  return (value) => {
    if (!(value > 0)) throw new RangeError(`${value} ${unit} is not above 0`);
    return String(Math.round(value / MICRO));
  };
}

function limitControl(
  machine: Machine,
  zones: readonly Zone[],
  control: ControlDeclaration,
): Control {
  const file = control.unit === 'W' ? 'power_limit_uw' : 'time_window_us';
  const settings = (index: number): ControlSetting[] =>
    zones
      .filter((zone) => zone.index === index)
      .map(({ folder }) => `${folder}/constraint_${longTerm(machine, folder)}_${file}`)
      .filter((path) => machine.exists(path))
      .map((path) => ({ path: machine.path(path), text: micro(control.unit) }));
  return { ...control, settings };
}

export const powercap: Provider = {
  name: 'powercap',
  source: '/sys/class/powercap/intel-rapl*',
  declares: [...Object.values(ENERGIES), LIMIT, MOST, LEAST, BOARD_LIMIT],
  controls: CONTROLS,
  open({ machine }) {
    const all = zonesOf(machine);
    if (all.length === 0) return NOTHING;
    const zones = running(machine, all);
    const energies = Object.entries(ENERGIES).flatMap(([kind, declaration]): Signal[] => {
      const ofKind = zones.filter((zone) => zone.kind === kind);
      if (ofKind.length === 0) return [];
      const open = (index: number, tick: Tick) =>
        sumOf(
          ofKind
            .filter((zone) => zone.index === index)
            .map((zone) => energyReader(machine, zone, tick)),
        );
      return [{ ...declaration, open }];
    });
    const zonesWith = (kind: Kind) => all.filter((zone) => zone.kind === kind);
    const limits = LIMIT_FILES.flatMap(([declaration, file, kind]): Signal[] => {
      const path = ({ folder }: Zone) =>
        `${folder}/constraint_${longTerm(machine, folder)}_${file}`;
      const having = zonesWith(kind).filter((zone) => machine.number(path(zone)) > 0);
      if (having.length === 0) return [];
      const open = (index: number, tick: Tick) =>
        sumOf(
          having
            .filter((zone) => zone.index === index)
            .map((zone) => scaled(tick.file(path(zone)), MICRO)),
        );
      return [{ ...declaration, open }];
    });
    const controls = CONTROLS.flatMap((declaration): Control[] => {
      const own = zonesWith(declaration.domain === 'board' ? 'psys' : 'package');
      const control = limitControl(machine, own, declaration);
      return own.some(({ index }) => control.settings(index).length > 0) ? [control] : [];
    });
    return { signals: [...energies, ...limits], controls };
  },
};
