/**
 * `hwmon_*`: sensors of boards, processors, drives and adapters, as their drivers report them: temperature,
 * power and energy. A sensor that does not answer, or is below 0 °C, has no record. Of `coretemp` only packages are read, because
 * asking a core for its temperature wakes it. If a power has several readings, the present one is taken. Source:
 * Documentation/hwmon/sysfs-interface.rst.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices, hasVanished } from './devices.ts';
import { alone, FileFields } from './file-fields.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/class/hwmon';
const CORE = /^Core \d+$/;

interface Sensor {
  readonly device: string;
  readonly file: FileFields;
}

/** The name of a chip's file for the sensor with a number; null if it is of another kind. */
type Pick = (file: string, all: readonly string[]) => string | null;

function sensorsOf(tree: NodeTree, chip: string, metric: Metric, pick: Pick): Sensor[] {
  const folder = `${FOLDER}/${chip}`;
  const name = tree.text(`${folder}/name`);
  const files = tree.list(folder);
  if (name === null || files === null) return [];
  const sensors: Sensor[] = [];
  for (const file of files.toSorted()) {
    const sensor = pick(file, files);
    if (sensor === null) continue;
    const label = tree.text(`${folder}/${sensor}_label`);
    if (label !== null && name === 'coretemp' && CORE.test(label)) continue;
    // Numbers tell chips of the same name apart.
    const place = `${name}.${chip.slice('hwmon'.length)}/${sensor}`;
    const device = label === null ? place : `${place}/${label.replace(/[^!-~]+/g, '_')}`;
    try {
      sensors.push({ device, file: new FileFields(tree, folder, [alone(metric, file)]) });
    } catch {
      // Not readable by this user, or gone.
    }
  }
  return sensors;
}

function hwmonType(name: string, help: string, metric: Metric, pick: Pick): NodeType {
  const device = (tree: NodeTree, chip: string): Device | null => {
    if (!/^hwmon\d+$/.test(chip)) return null;
    const sensors = sensorsOf(tree, chip, metric, pick);
    if (sensors.length === 0) return null;
    const write = (writer: RawWriter) => {
      for (const { device, file } of sensors) {
        try {
          writer.record(name, device);
          file.write(writer);
          writer.endRecord(1);
        } catch (error) {
          writer.dropRecord();
          if (hasVanished(error)) throw error;
        }
      }
    };
    const close = () => {
      for (const { file } of sensors) file.close();
    };
    return { write, close };
  };
  const open = (tree: NodeTree): Collector => {
    const list = () => tree.devices(FOLDER);
    return new Devices(`/${FOLDER}`, list, (chip) => device(tree, chip));
  };
  const source = `/${FOLDER}/hwmonN/${name.slice('hwmon_'.length)}*`;
  return { name, help, device: 'CHIP.N/SENSOR/LABEL', source, metrics: [metric], open };
}

const inputOf = (kind: string): Pick => {
  const pattern = new RegExp(`^(${kind}\\d+)_input$`);
  return (file) => pattern.exec(file)?.[1] ?? null;
};

/** The present power, or the average if the chip has no other. */
const power: Pick = (file, all) => {
  const [, sensor, which] = /^(power\d+)_(input|average)$/.exec(file) ?? [];
  if (sensor === undefined) return null;
  return which === 'average' && all.includes(`${sensor}_input`) ? null : sensor;
};

export const HWMON: readonly NodeType[] = [
  hwmonType(
    'hwmon_energy',
    'energy by sensors of the kernel',
    counter('energy', 'energy used', 'uJ'),
    inputOf('energy'),
  ),
  hwmonType(
    'hwmon_power',
    'power by sensors of the kernel',
    gauge('power', 'power drawn', 'uW'),
    power,
  ),
  hwmonType(
    'hwmon_temp',
    'temperatures by sensors of the kernel',
    gauge('temp', 'temperature', 'mCel'),
    inputOf('temp'),
  ),
];
