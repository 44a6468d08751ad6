/**
 * `intel_gpu`: Intel GPUs by their drivers' files, xe or i915: how long each part has idled, and its clock. Their power and
 * energy are sensors: `hwmon_energy`, `hwmon_power`. The drivers widen a counter of 32 bits, which begins again after an hour and a half,
 * when it is read.
 * `intel_gpu_state`: what holds a part's clock down. Sources: drivers/gpu/drm/xe/xe_gt_idle.c, xe_gt_freq.c and xe_gt_throttle.c;
 * drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { alone, digitsAfter, FileFields, textOf } from './file-fields.ts';
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

const isXe = (part: string) => part.includes('/device/');
/** As its records call a part. */
const nameOf = (part: string) =>
  part.slice('card'.length).replace(isXe(part) ? '/device' : '/gt/', isXe(part) ? '' : '/');

function open(tree: NodeTree): Collector {
  const first = partsOf(tree) ?? [];
  if (first.length === 0) throw new UnavailableError('no GPU with the driver xe or i915');
  const device = (part: string): Device => {
    const fields = (isXe(part) ? XE : I915).map((file, k) => alone(METRICS[k], file));
    const files = new FileFields(tree, `${FOLDER}/${part}`, fields);
    const write = (writer: RawWriter) => {
      writer.record('intel_gpu', nameOf(part));
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

/** Keys, as those of `nvidia_gpu_state`, and the drivers' reasons for each. */
const REASONS = [
  {
    metric: gauge('held_by_power', '1 while a power limit holds the clock down'),
    names: ['pl1', 'pl2', 'pl4'],
  },
  {
    metric: gauge('held_by_heat', '1 while a temperature holds the clock down'),
    names: ['thermal', 'prochot', 'ratl', 'vr_thermalert'],
  },
  {
    metric: gauge('held_by_hardware', '1 while its voltage regulator holds the clock down'),
    names: ['vr_tdc'],
  },
];

/** A part's files of reasons by key; null where it has none of a key. */
function reasonsOf(tree: NodeTree, part: string): readonly (readonly string[])[] | null {
  const path = (name: string) =>
    `${FOLDER}/${part}/${isXe(part) ? 'freq0/throttle/' : 'throttle_'}reason_${name}`;
  const files = REASONS.map(({ names }) =>
    names.map(path).filter((file) => /^[01]$/.test(tree.text(file)?.trim() ?? '')),
  );
  return files.some(({ length }) => length === 0) ? null : files;
}

class Reasons implements Device {
  private readonly name: string;
  private readonly files: readonly (readonly KernelFile[])[];

  constructor(name: string, files: readonly (readonly KernelFile[])[]) {
    this.name = name;
    this.files = files;
  }

  write(writer: RawWriter): void {
    writer.record('intel_gpu_state', this.name);
    for (const files of this.files) {
      const holds = files.map((file) => {
        const digits = digitsAfter(textOf(file, file.readPiece()), ['\n']);
        if (digits === null) throw new Error(`${file.path} has no number`);
        return digits !== '0';
      });
      writer.number(Number(holds.includes(true)));
    }
    writer.endRecord(this.files.length);
  }

  close(): void {
    for (const file of this.files.flat()) file.close();
  }
}

function openState(tree: NodeTree): Collector {
  if (!(partsOf(tree) ?? []).some((part) => reasonsOf(tree, part) !== null)) {
    throw new UnavailableError('no GPU whose driver (xe or i915) reports throttling');
  }
  const device = (part: string): Device | null => {
    const files = reasonsOf(tree, part);
    return files === null
      ? null
      : new Reasons(
          nameOf(part),
          files.map((each) => each.map((file) => tree.open(file))),
        );
  };
  return new Devices(`/${FOLDER}`, () => partsOf(tree), device);
}

export const INTEL_GPU_STATE: NodeType = {
  name: 'intel_gpu_state',
  help: 'Intel GPUs: what holds their clock down',
  device: 'CARD/TILE/GT, or CARD/GT',
  source: '/sys/class/drm/cardN/{device/tileN/gtN/freq0/throttle/*,gt/gtN/throttle_reason_*}',
  metrics: REASONS.map(({ metric }) => metric),
  open: openState,
};
