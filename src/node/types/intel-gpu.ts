/**
 * `intel_gpu`: Intel GPUs by their drivers' files, xe or i915: how long each part has idled, and its clock. Their power and
 * energy are sensors: `hwmon_energy`, `hwmon_power`. The drivers widen a counter of 32 bits, which begins again after an hour and a half,
 * when it is read. Sources: drivers/gpu/drm/xe/xe_gt_idle.c and xe_gt_freq.c; drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { alone, FileFields } from './file-fields.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/class/drm';

const METRICS = [
  counter('idle', 'time in which the part was switched off because it had no work', 'ms'),
  gauge('clock', 'clock of the part; 0 while it is switched off', 'MHz'),
];
/** Files of a part by driver, in the order of the keys. */
const XE = ['gtidle/idle_residency_ms', 'freq0/act_freq'];
const I915 = ['rc6_residency_ms', 'rps_act_freq_mhz'];

/** Folders of the parts of all cards, below `FOLDER`. */
function partsOf(tree: NodeTree): string[] | null {
  const below = (folder: string, name: RegExp) =>
    (tree.list(`${FOLDER}/${folder}`) ?? []).filter((each) => name.test(each));
  return (
    tree.devices(FOLDER)?.flatMap((card) => {
      if (!/^card\d+$/.test(card)) return [];
      const tiles = below(`${card}/device`, /^tile\d+$/).map((tile) => `${card}/device/${tile}`);
      return [...tiles, `${card}/gt`].flatMap((folder) =>
        below(folder, /^gt\d+$/).map((part) => `${folder}/${part}`),
      );
    }) ?? null
  );
}

function open(tree: NodeTree): Collector {
  const first = partsOf(tree) ?? [];
  if (first.length === 0) throw new UnavailableError('no GPU with the driver xe or i915');
  const device = (part: string): Device => {
    const isXe = part.includes('/device/');
    const fields = (isXe ? XE : I915).map((file, k) => alone(METRICS[k], file));
    const files = new FileFields(tree, `${FOLDER}/${part}`, fields);
    const name = part.slice('card'.length).replace(isXe ? '/device' : '/gt/', isXe ? '' : '/');
    const write = (writer: RawWriter) => {
      writer.record('intel_gpu', name);
      files.write(writer);
      writer.endRecord(METRICS.length);
    };
    return { write, close: () => files.close() };
  };
  return new Devices(`/${FOLDER}`, () => partsOf(tree), device);
}

export const INTEL_GPU: NodeType = {
  name: 'intel_gpu',
  help: 'Intel GPUs: idle time, clock',
  device: 'CARD/TILE/GT, or CARD/GT',
  source: '/sys/class/drm/cardN/{device/tileN/gtN/*,gt/gtN/*}',
  metrics: METRICS,
  open,
};
