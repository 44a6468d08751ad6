/**
 * `nvidia_gpu`, whose keys are those of tacc_stats, and what operators watch beyond: `nvidia_gpu_state`, `nvidia_gpu_ecc`,
 * `nvidia_gpu_link`, `nvidia_gpu_activity`; through NVML, whose persistence mode is left alone. A key that no GPU tells is not in the
 * schema; a GPU that lacks what others tell has no record. A GPU that hangs does not answer: a child process asks, which tells the
 * keys before. In a recorded tree, `nvml/N` holds lines of a key and its value for GPU N. Source: NVML API reference, device queries and
 * nvmlClocksThrottleReasons.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import { type GpuQuantity, type GpuState, type Nvml, openNvml } from '../../os/nvml.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

interface Key {
  readonly metric: Metric;
  /** Null where the GPU does not tell. */
  readonly read: (nvml: Nvml, gpu: number, state: () => GpuState) => bigint | null;
}

const ofState = (field: keyof GpuState, metric: Metric): Key => ({
  metric,
  read: (_, __, state) => {
    const value = state()[field];
    return value === null ? null : BigInt(value);
  },
});

/** `times`: what a value is multiplied with; `bits`: 1 where any of them is set, else 0. */
const ofQuantity = (
  what: GpuQuantity,
  metric: Metric,
  { times = 1, bits }: { readonly times?: number; readonly bits?: number } = {},
): Key => ({
  metric,
  read: (nvml, gpu) => {
    const value = nvml.quantity(gpu, what);
    if (Number.isNaN(value)) return null;
    return BigInt(bits === undefined ? Math.round(value * times) : Number((value & bits) !== 0));
  },
});

/** The recording of a library. */
function recorded(tree: NodeTree): Nvml {
  const files = () => {
    try {
      return readdirSync(join(tree.root, 'nvml')).filter((name) => /^\d+$/.test(name));
    } catch {
      return [];
    }
  };
  const names = files().sort((a, b) => Number(a) - Number(b));
  const value = (gpu: number, key: string) => {
    const text = tree.text(`nvml/${names[gpu]}`) ?? '';
    return new RegExp(`^${key} (\\d{1,20})$`, 'm').exec(text)?.[1];
  };
  const big = (digits: string | undefined) => (digits === undefined ? null : BigInt(digits));
  const small = (digits: string | undefined) => (digits === undefined ? null : Number(digits));
  return {
    count: names.length,
    read: (gpu) => ({
      total: big(value(gpu, 'memtotal')),
      free: big(value(gpu, 'memfree')),
      used: big(value(gpu, 'memused')),
      power: small(value(gpu, 'power')),
      utilization: small(value(gpu, 'utilization')),
    }),
    quantity: (gpu, what) => Number(value(gpu, what) ?? Number.NaN),
    close: () => {},
  };
}

class Gpus implements Collector {
  readonly metrics: readonly Metric[];
  private readonly type: string;
  private readonly nvml: Nvml;
  private readonly keys: readonly Key[];

  /** `asked`: names of the keys that readers were told; null: those that a GPU tells. */
  constructor(type: string, nvml: Nvml, all: readonly Key[], asked: readonly string[] | null) {
    this.type = type;
    this.nvml = nvml;
    const told = Array.from({ length: nvml.count }, (_, gpu) => this.valuesOf(gpu, all));
    this.keys = all.filter(({ metric }, k) =>
      asked === null ? told.some((values) => values[k] !== null) : asked.includes(metric.key),
    );
    this.metrics = this.keys.map(({ metric }) => metric);
    if (this.keys.length === 0) throw new UnavailableError('NVML reports this for no GPU');
  }

  private valuesOf(gpu: number, keys: readonly Key[]): readonly (bigint | null)[] {
    let known: GpuState | null = null;
    const state = () => {
      known ??= this.nvml.read(gpu);
      return known;
    };
    return keys.map(({ read }) => read(this.nvml, gpu, state));
  }

  collect(writer: RawWriter): void {
    for (let gpu = 0; gpu < this.nvml.count; gpu++) {
      const values = this.valuesOf(gpu, this.keys);
      // One that has fallen off the bus tells nothing.
      if (values.includes(null)) continue;
      writer.record(this.type, String(gpu));
      for (const value of values) writer.bigint(value as bigint);
      writer.endRecord(values.length);
    }
  }

  close(): void {
    this.nvml.close();
  }
}

/** Loading the library for nothing costs more than this. @throws UnavailableError */
function lookForDriver(tree: NodeTree): void {
  if (!tree.list('proc/driver/nvidia')?.includes('version')) {
    throw new UnavailableError('no NVIDIA driver (/proc/driver/nvidia)');
  }
}

/** The library, or the recording of it. @throws UnavailableError */
function nvmlOf(tree: NodeTree): Nvml {
  if (!tree.isThisMachine) return recorded(tree);
  lookForDriver(tree);
  try {
    return openNvml();
  } catch (error) {
    throw new UnavailableError((error as Error).message);
  }
}

function nvidiaType(name: string, help: string, keys: readonly Key[]): NodeType {
  return {
    name,
    help,
    device: 'GPU',
    source: 'NVML',
    metrics: keys.map(({ metric }) => metric),
    mayBlock: (tree) => {
      if (tree.isThisMachine) lookForDriver(tree);
      return tree.isThisMachine;
    },
    keysFirst: true,
    open: (tree, asked = null) => {
      const nvml = nvmlOf(tree);
      try {
        return new Gpus(name, nvml, keys, asked);
      } catch (error) {
        nvml.close();
        throw error;
      }
    },
  };
}

/** nvmlClocksThrottleReasonSwPowerCap and HwPowerBrakeSlowdown; Sw- and HwThermalSlowdown; HwSlowdown. */
const [POWER, THERMAL, HARDWARE] = [0x84, 0x60, 0x08];
/** Percent in thousandths. */
const MILLE = { times: 10 };

export const NVIDIA_GPUS: readonly NodeType[] = [
  nvidiaType('nvidia_gpu', 'NVIDIA GPUs: memory, power, utilisation', [
    ofState('total', gauge('memtotal', 'memory of the GPU', 'B')),
    ofState('free', gauge('memfree', 'memory that is free', 'B')),
    ofState('used', gauge('memused', 'memory that is used', 'B')),
    ofState('power', gauge('power', 'power drawn', 'mW')),
    ofState('utilization', gauge('utilization', 'time in which a kernel ran, in percent')),
  ]),
  nvidiaType('nvidia_gpu_activity', 'NVIDIA GPUs since Hopper: how busy their parts are', [
    ofQuantity(
      'sm_active',
      gauge('sm_active', 'multiprocessors that were busy since the last sample, in thousandths'),
      MILLE,
    ),
    ofQuantity(
      'sm_occupancy',
      gauge('sm_occupancy', 'warps that were active, of those that can be, in thousandths'),
      MILLE,
    ),
    ofQuantity(
      'tensor_active',
      gauge('tensor_active', 'time in which tensor cores worked, in thousandths'),
      MILLE,
    ),
    ofQuantity(
      'dram_active',
      gauge('dram_active', 'traffic of its memory, of what that can do, in thousandths'),
      MILLE,
    ),
  ]),
  nvidiaType('nvidia_gpu_ecc', 'NVIDIA GPUs: memory errors', [
    ofQuantity('corrected', counter('corrected', 'errors that were corrected')),
    ofQuantity('uncorrected', counter('uncorrected', 'errors that could not be corrected')),
    ofQuantity('replays', counter('replays', 'packets of PCI Express sent again', '', 32)),
  ]),
  nvidiaType('nvidia_gpu_link', 'NVIDIA GPUs: data over NVLink', [
    ofQuantity('nvlink_tx', counter('nvlink_tx', 'sent over all links', 'KB')),
    ofQuantity('nvlink_rx', counter('nvlink_rx', 'received over all links', 'KB')),
  ]),
  nvidiaType('nvidia_gpu_state', 'NVIDIA GPUs: energy, temperature, clock and what holds it down', [
    ofQuantity('energy', counter('energy', 'energy since the driver was loaded', 'mJ')),
    ofQuantity('temperature', gauge('temperature', 'temperature of the chip', 'Cel')),
    ofQuantity('clock', gauge('sm_clock', 'clock of the multiprocessors', 'MHz')),
    ofQuantity('limit', gauge('power_limit', 'power that it may draw', 'mW')),
    ofQuantity(
      'throttle',
      gauge('held_by_power', '1 while its power limit or a brake holds the clock down'),
      { bits: POWER },
    ),
    ofQuantity('throttle', gauge('held_by_heat', '1 while its temperature holds the clock down'), {
      bits: THERMAL,
    }),
    ofQuantity(
      'throttle',
      gauge('held_by_hardware', '1 while hardware halves the clock or worse'),
      { bits: HARDWARE },
    ),
  ]),
];
