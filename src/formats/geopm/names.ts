/** The keys of GEOPM's files as columns: what is known about each key, and a name for those that are not known. */
import type { Metric } from '../../model/metric.ts';

type Known = Pick<Metric, 'unit' | 'over' | 'behaviour' | 'help'>;

const time = (help: string): Known => ({ unit: 's', over: 'mean', behaviour: 'monotone', help });
const energy = (help: string): Known => ({ unit: 'J', over: 'sum', behaviour: 'monotone', help });
const state = (unit: string, help: string): Known => ({
  unit,
  over: 'mean',
  behaviour: 'variable',
  help,
});

const HINTS = 'network ignore compute memory io serial parallel unknown unset spin'.split(' ');

/** By the report's key without its unit. */
const KNOWN: Readonly<Record<string, Known>> = {
  runtime: time('time inside, from exact entries and exits, mean over processes'),
  count: { unit: '', over: 'mean', behaviour: 'monotone', help: 'visits, mean over processes' },
  'sync-runtime': time('sampled time for which all CPUs were in this region'),
  'package-energy': energy('energy of all processor packages'),
  'dram-energy': energy('energy of all memory'),
  'gpu-energy': energy('energy of all GPUs'),
  power: state('W', 'package energy by sync-runtime'),
  'gpu-power': state('W', 'GPU energy by sync-runtime'),
  'uncore-frequency': state('Hz', 'frequency of the uncore'),
  'gpu-frequency': state('Hz', 'frequency of the GPUs'),
  ...Object.fromEntries(
    HINTS.map((hint) => [`time-hint-${hint}`, time(`part of sync-runtime with the hint ${hint}`)]),
  ),
  'GEOPM startup': time('from the start of the application to the first sample'),
  'GEOPM overhead': time('what processes spent on starting and ending the runtime'),
  'MPI startup': time('time in MPI_Init'),
  'geopmctl memory HWM': state('B', 'most memory of the controller; GEOPM prints KiB here'),
  'geopmctl network BW': state('B/s', 'what controllers sent to each other'),
};

/** The name and the unit ('' if none) of a key such as `package-energy (J)`. In one pass, since keys may be very long. */
function nameAndUnit(key: string): readonly [string, string] {
  const open = key.lastIndexOf('(');
  const end = key.length - 1;
  if (open < 0 || open + 1 >= end || key.indexOf(')', open) !== end) return [key, ''];
  return [key.slice(0, open).trimEnd(), key.slice(open + 1, end)];
}
/** Units as old versions write them. */
const UNITS: Readonly<Record<string, string>> = {
  sec: 's',
  joules: 'J',
  watts: 'W',
  'B/sec': 'B/s',
};

/** A column's name: lower case, words joined by `_`. */
export const columnName = (key: string): string =>
  key
    .toLowerCase()
    .replace(/%/g, ' percent ')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '') || 'value';

/** The column of a report's key, such as `package-energy (J)` or `TIME@package-0`. */
export function reportMetric(key: string): Metric {
  const [name, written] = nameAndUnit(key);
  const unit = UNITS[written] ?? written;
  const known = KNOWN[name];
  return {
    key: columnName(unit === '%' ? `${name} percent` : name),
    cell: 'f64',
    kind: 'gauge',
    behaviour: known?.behaviour ?? 'variable',
    form: 'total',
    unit: known?.unit !== undefined && unit === '' ? known.unit : unit,
    over: known?.over ?? 'mean',
    help: known?.help ?? `${key} of the report`,
  };
}

export const hash = (key: string, help: string): Metric => ({
  key,
  cell: 'u32',
  kind: 'gauge',
  behaviour: 'label',
  form: 'total',
  unit: '',
  over: 'same',
  help,
});

export const real = (key: string, unit: string, help: string): Metric => ({
  key,
  cell: 'f64',
  kind: 'gauge',
  behaviour: 'variable',
  form: 'total',
  unit,
  over: 'mean',
  help,
});
