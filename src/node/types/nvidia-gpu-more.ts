/**
 * What operators watch of NVIDIA GPUs beyond `nvidia_gpu`, whose keys are those of tacc_stats: `nvidia_gpu_state` and
 * `nvidia_gpu_ecc`. A GPU that does not tell all keys of a type has no record of it. Source: NVML API reference, device
 * queries and nvmlClocksThrottleReasons.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import type { GpuQuantity } from '../../os/nvml.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { nvmlMayBlock, nvmlOf } from './nvidia-gpu.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

interface Key {
  readonly metric: Metric;
  readonly what: GpuQuantity;
  /** 1 where any of these bits is set, else 0. */
  readonly bits?: number;
}

function open(tree: NodeTree, type: string, keys: readonly Key[]): Collector {
  const nvml = nvmlOf(tree);
  const read = (gpu: number) =>
    keys.map(({ what, bits }) => {
      const value = nvml.quantity(gpu, what);
      return bits === undefined || Number.isNaN(value) ? value : Number((value & bits) !== 0);
    });
  const told = Array.from({ length: nvml.count }, (_, gpu) => gpu).filter(
    (gpu) => !read(gpu).some(Number.isNaN),
  );
  if (told.length === 0) {
    nvml.close();
    throw new UnavailableError('no GPU that NVML tells this of');
  }
  const collect = (writer: RawWriter) => {
    for (const gpu of told) {
      const values = read(gpu);
      if (values.some(Number.isNaN)) continue;
      writer.record(type, String(gpu));
      for (const value of values) writer.number(value);
      writer.endRecord(values.length);
    }
  };
  return { collect, close: () => nvml.close() };
}

const moreType = (name: string, help: string, keys: readonly Key[]): NodeType => ({
  name,
  help,
  device: 'GPU',
  source: 'NVML',
  metrics: keys.map(({ metric }) => metric),
  mayBlock: nvmlMayBlock,
  open: (tree) => open(tree, name, keys),
});

/** nvmlClocksThrottleReasonSwPowerCap and HwPowerBrakeSlowdown; Sw- and HwThermalSlowdown; HwSlowdown. */
const [POWER, THERMAL, HARDWARE] = [0x84, 0x60, 0x08];

export const NVIDIA_GPU_MORE: readonly NodeType[] = [
  moreType('nvidia_gpu_state', 'NVIDIA GPUs: energy, temperature, clock and what holds it down', [
    { metric: counter('energy', 'energy since the driver was loaded', 'mJ'), what: 'energy' },
    { metric: gauge('temperature', 'temperature of the chip', 'Cel'), what: 'temperature' },
    { metric: gauge('sm_clock', 'clock of the multiprocessors', 'MHz'), what: 'clock' },
    { metric: gauge('power_limit', 'power that it may draw', 'mW'), what: 'limit' },
    {
      metric: gauge('held_by_power', '1 while its power limit or a brake holds the clock down'),
      what: 'throttle',
      bits: POWER,
    },
    {
      metric: gauge('held_by_heat', '1 while its temperature holds the clock down'),
      what: 'throttle',
      bits: THERMAL,
    },
    {
      metric: gauge('held_by_hardware', '1 while hardware halves the clock or worse'),
      what: 'throttle',
      bits: HARDWARE,
    },
  ]),
  moreType('nvidia_gpu_ecc', 'NVIDIA GPUs: errors of memory', [
    { metric: counter('corrected', 'errors that were corrected'), what: 'corrected' },
    { metric: counter('uncorrected', 'errors that could not be corrected'), what: 'uncorrected' },
    { metric: counter('replays', 'packets of PCI Express sent again', '', 32), what: 'replays' },
  ]),
];
