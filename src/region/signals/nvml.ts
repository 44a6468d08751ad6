/** NVIDIA's GPUs, through NVML. They are numbered after the GPUs that the kernel lists. Source: NVML API reference. */
import { type GpuQuantity, type NvmlLibrary, openNvml } from '../../os/nvml.ts';
import { NVML_CONTROLS, nvmlControls } from './nvml-controls.ts';
import {
  NOTHING,
  type Provided,
  type Provider,
  type Signal,
  type SignalDeclaration,
} from './provider.ts';

/** A library other than the system's, such as one for tests. */
const ENVIRONMENT = 'TRISCOPE_NVML';
const DRIVER = 'proc/driver/nvidia';

type Metric = SignalDeclaration & {
  readonly what: GpuQuantity | 'utilization' | 'least' | 'most';
  readonly scale: number;
};

const METRICS: readonly Metric[] = [
  {
    name: 'NVML::GPU_ENERGY',
    alias: 'GPU_ENERGY',
    description: 'Energy used by the GPU since its driver was loaded',
    unit: 'J',
    domain: 'gpu',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    what: 'energy',
    scale: 1e-3,
  },
  {
    name: 'NVML::GPU_POWER',
    alias: 'GPU_POWER',
    description: 'Power of the GPU',
    unit: 'W',
    domain: 'gpu',
    behaviour: 'variable',
    aggregation: 'sum',
    format: 'double',
    what: 'power',
    scale: 1e-3,
  },
  {
    name: 'NVML::GPU_POWER_LIMIT',
    alias: 'GPU_POWER_LIMIT',
    description: 'Power limit in force',
    unit: 'W',
    domain: 'gpu',
    behaviour: 'variable',
    aggregation: 'sum',
    format: 'double',
    what: 'limit',
    scale: 1e-3,
  },
  {
    name: 'NVML::GPU_TEMPERATURE',
    alias: 'GPU_TEMPERATURE',
    description: 'Temperature of the GPU',
    unit: 'Celsius',
    domain: 'gpu',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    what: 'temperature',
    scale: 1,
  },
  {
    name: 'NVML::GPU_UTILIZATION',
    alias: 'GPU_UTILIZATION',
    description: 'Share of time in which a kernel ran, 0 to 1',
    unit: '',
    domain: 'gpu',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    what: 'utilization',
    scale: 1e-2,
  },
  {
    name: 'NVML::GPU_CORE_FREQUENCY',
    alias: 'GPU_CORE_FREQUENCY_STATUS',
    description: "Frequency of the GPU's multiprocessors",
    unit: 'Hz',
    domain: 'gpu_chip',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    what: 'clock',
    scale: 1e6,
  },
  {
    name: 'NVML::GPU_CORE_FREQUENCY_MAX_AVAIL',
    alias: 'GPU_CORE_FREQUENCY_MAX_AVAIL',
    description: "Largest frequency of the GPU's multiprocessors",
    unit: 'Hz',
    domain: 'gpu_chip',
    behaviour: 'constant',
    aggregation: 'average',
    format: 'double',
    what: 'most',
    scale: 1e6,
  },
  {
    name: 'NVML::GPU_CORE_FREQUENCY_MIN_AVAIL',
    alias: 'GPU_CORE_FREQUENCY_MIN_AVAIL',
    description: "Least frequency of the GPU's multiprocessors",
    unit: 'Hz',
    domain: 'gpu_chip',
    behaviour: 'constant',
    aggregation: 'average',
    format: 'double',
    what: 'least',
    scale: 1e6,
  },
];

const declarationOf = ({ what: _w, scale: _s, ...declaration }: Metric): SignalDeclaration =>
  declaration;

function readingOf(library: NvmlLibrary, gpu: number, { what, scale }: Metric): number {
  if (what === 'least' || what === 'most') {
    return (library.limits(gpu)?.clocks.core[what] ?? Number.NaN) * scale;
  }
  const value = what === 'utilization' ? library.utilization(gpu) : library.quantity(gpu, what);
  return value * scale;
}

export const nvml: Provider = {
  name: 'nvml',
  source:
    'libnvidia-ml.so.1 (never run on hardware; NVML does not say which clocks were locked before, so at the end those that were changed are unlocked)',
  declares: METRICS.map(declarationOf),
  controls: NVML_CONTROLS,
  open({ machine }): Provided {
    const path = process.env[ENVIRONMENT];
    // A recorded tree has no library unless one is named, and looking for a missing one costs time.
    if (!path && !(machine.isThisMachine && machine.exists(DRIVER))) return NOTHING;
    let library: NvmlLibrary;
    try {
      library = openNvml(path);
    } catch {
      return NOTHING;
    }
    const first = machine.topology.addGpus(library.count);
    const gpus = Array.from({ length: library.count }, (_, gpu) => gpu);
    const signals = METRICS.flatMap((metric): Signal[] => {
      if (gpus.every((gpu) => Number.isNaN(readingOf(library, gpu, metric)))) return [];
      const offset = metric.domain === 'gpu' ? first.gpu : first.chip;
      const open = (index: number) => {
        const gpu = index - offset;
        return gpu < 0 ? null : { read: () => readingOf(library, gpu, metric) };
      };
      return [{ ...declarationOf(metric), open }];
    });
    const controls = nvmlControls(library, first);
    return { signals, controls, close: () => library.close() };
  },
};
