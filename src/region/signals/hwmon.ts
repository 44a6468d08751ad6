/**
 * Sensors of the kernel's hardware monitoring: each as `HWMON::CHIP::LABEL`, and the processors' known sensors also
 * under the common names. Sensors of GPUs are with their cards. Source: Documentation/hwmon/sysfs-interface.rst.
 */
import type { Machine } from '../machine.ts';
import type { Provider, Signal, SignalDeclaration, SignalUnit } from './provider.ts';
import { totalOfFile } from './running-total.ts';
import { meanOf, scaled, sumOf } from './sum-of.ts';

const CLASS = 'sys/class/hwmon';
const OF_GPUS = new Set(['i915', 'xe', 'amdgpu', 'nouveau', 'radeon']);

/** How a sensor's files are called, and what their numbers mean. */
const KINDS: Readonly<Record<string, { unit: SignalUnit; scale: number; what: string }>> = {
  temp: { unit: 'Celsius', scale: 1e-3, what: 'Temperature' },
  power: { unit: 'W', scale: 1e-6, what: 'Power' },
  energy: { unit: 'J', scale: 1e-6, what: 'Energy' },
  in: { unit: 'V', scale: 1e-3, what: 'Voltage' },
  curr: { unit: 'A', scale: 1e-3, what: 'Current' },
  fan: { unit: '', scale: 1, what: 'Revolutions per minute' },
};

interface Sensor {
  readonly chip: string;
  /** Number of the chip among those of the same name. */
  readonly number: number;
  readonly kind: keyof typeof KINDS & string;
  readonly label: string;
  readonly path: string;
  readonly device: string;
}

const sensorSignal = (name: string, { chip, kind, label }: Sensor): SignalDeclaration => ({
  name,
  description: `${KINDS[kind].what} that the sensor ${label} of ${chip} tells`,
  unit: KINDS[kind].unit,
  domain: 'board',
  behaviour: kind === 'energy' ? 'monotone' : 'variable',
  aggregation: 'average',
  format: 'double',
});

const CORE_TEMPERATURE: SignalDeclaration = {
  name: 'HWMON::CORE_TEMPERATURE',
  alias: 'CPU_CORE_TEMPERATURE',
  description: 'Temperature of the core (coretemp)',
  unit: 'Celsius',
  domain: 'core',
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
};

const PACKAGE_TEMPERATURE: SignalDeclaration = {
  name: 'HWMON::PACKAGE_TEMPERATURE',
  alias: 'CPU_PACKAGE_TEMPERATURE',
  description: 'Temperature of the package (coretemp, k10temp)',
  unit: 'Celsius',
  domain: 'package',
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
};

const SOCKET_ENERGY: SignalDeclaration = {
  name: 'HWMON::SOCKET_ENERGY',
  alias: 'CPU_ENERGY',
  description: 'Energy used by the package (amd_energy)',
  unit: 'J',
  domain: 'package',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
};

/** `HWMON::{CHIP}::{LABEL}`, for the documentation. */
const ANY = sensorSignal('HWMON::{CHIP}::{LABEL}', {
  chip: 'a chip',
  number: 0,
  kind: 'temp',
  label: 'LABEL',
  path: '',
  device: '',
});

function sensorsOf(machine: Machine): Sensor[] {
  const seen = new Map<string, number>();
  return machine.list(CLASS, /^hwmon\d+$/).flatMap((name) => {
    // Older drivers keep these files in the device's folder.
    const own = `${CLASS}/${name}`;
    const folder = machine.exists(`${own}/name`) ? own : `${own}/device`;
    const chip = machine.text(`${folder}/name`);
    if (chip === null || OF_GPUS.has(chip)) return [];
    const number = seen.get(chip) ?? 0;
    seen.set(chip, number + 1);
    const device = machine.target(`${own}/device`) ?? '';
    const files = machine.list(folder, /^(temp|power|energy|in|curr|fan)\d+_(input|average)$/);
    const inputs = files.filter(
      (file) => file.endsWith('_input') || !files.includes(file.replace('_average', '_input')),
    );
    return inputs.flatMap((file): Sensor[] => {
      const path = `${folder}/${file}`;
      if (Number.isNaN(machine.number(path))) return [];
      const stem = file.slice(0, file.lastIndexOf('_'));
      const label = machine.text(`${folder}/${stem}_label`) || stem;
      const kind = stem.replace(/\d+$/, '');
      return [{ chip, number, kind, label, path, device }];
    });
  });
}

const upper = (text: string) =>
  text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

/** Package of a coretemp chip: its platform device is `coretemp.N`; the n-th chip if that is unknown. */
const packageOf = ({ device, number }: Sensor) =>
  Number(/coretemp\.(\d+)$/.exec(device)?.[1] ?? number);

/** Each sensor under a name of its own. */
function named(sensors: readonly Sensor[]): Map<string, Sensor> {
  const names = new Map<string, Sensor>();
  for (const sensor of sensors) {
    const base = `HWMON::${upper(sensor.chip)}${sensor.number || ''}::${upper(sensor.label)}`;
    let name = base;
    for (let k = 1; names.has(name); k++) name = `${base}_${k}`;
    names.set(name, sensor);
  }
  return names;
}

export const hwmon: Provider = {
  name: 'hwmon',
  source: '/sys/class/hwmon',
  declares: [CORE_TEMPERATURE, PACKAGE_TEMPERATURE, SOCKET_ENERGY, ANY],
  open({ machine }) {
    const sensors = sensorsOf(machine);
    const milli = KINDS.temp.scale;
    const cores = sensors.flatMap((sensor) => {
      const [, id] = /^Core (\d+)$/.exec(sensor.label) ?? [];
      if (sensor.chip !== 'coretemp' || id === undefined) return [];
      return [{ sensor, at: machine.topology.coreAt(packageOf(sensor), Number(id)) }];
    });
    const packages = sensors.flatMap((sensor) => {
      if (sensor.chip === 'coretemp' && /^(Package|Physical) id/.test(sensor.label)) {
        return [{ sensor, at: packageOf(sensor) }];
      }
      const isDie = sensor.chip === 'k10temp' && ['Tdie', 'Tctl', 'temp1'].includes(sensor.label);
      return isDie ? [{ sensor, at: sensor.number }] : [];
    });
    const sockets = sensors.flatMap((sensor) => {
      const [, at] = /^Esocket(\d+)$/.exec(sensor.label) ?? [];
      return at === undefined ? [] : [{ sensor, at: Number(at) }];
    });
    const typed: Signal[] = [];
    if (cores.length > 0) {
      typed.push({
        ...CORE_TEMPERATURE,
        open: (index, tick) =>
          meanOf(
            cores
              .filter(({ at }) => at === index)
              .map(({ sensor }) => scaled(tick.file(sensor.path), milli)),
          ),
      });
    }
    if (packages.length > 0) {
      typed.push({
        ...PACKAGE_TEMPERATURE,
        open: (index, tick) =>
          meanOf(
            packages
              .filter(({ at }) => at === index)
              .map(({ sensor }) => scaled(tick.file(sensor.path), milli)),
          ),
      });
    }
    if (sockets.length > 0) {
      typed.push({
        ...SOCKET_ENERGY,
        open: (index, tick) =>
          sumOf(
            sockets
              .filter(({ at }) => at === index)
              .map(({ sensor }) => totalOfFile(tick, tick.file(sensor.path), KINDS.energy.scale)),
          ),
      });
    }
    const plain = [...named(sensors)].map(([name, sensor]): Signal => {
      const { scale } = KINDS[sensor.kind];
      return {
        ...sensorSignal(name, sensor),
        open: (_, tick) =>
          sensor.kind === 'energy'
            ? totalOfFile(tick, tick.file(sensor.path), scale)
            : scaled(tick.file(sensor.path), scale),
      };
    });
    return { signals: [...typed, ...plain] };
  },
};
