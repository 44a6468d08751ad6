/**
 * GPUs of Intel (i915, xe) and AMD (amdgpu), through files of their cards.
 * Source: Documentation/ABI/testing/sysfs-driver-intel-{i915,xe}-hwmon, Documentation/gpu/amdgpu/thermal.rst.
 */
import type { Machine } from '../machine.ts';
import type { GpuPlace } from '../topology.ts';
import type {
  Control,
  ControlDeclaration,
  Provider,
  Signal,
  SignalDeclaration,
} from './provider.ts';
import { totalOfFile } from './running-total.ts';
import { scaled } from './sum-of.ts';

const MICRO = 1e-6;
const MILLI = 1e-3;
const MEGA = 1e6;
const PERCENT = 1e-2;

type Metric = SignalDeclaration & {
  /** Files, the first that is a number counts; `hwmon/` is the card's own of /sys/class/hwmon. */
  readonly files: readonly string[];
  readonly scale: number;
};

const gpu = (
  name: string,
  described: Pick<Metric, 'description' | 'unit' | 'files' | 'scale'>,
  rest: Partial<Metric> = {},
): Metric => ({
  name: `DRM::${name}`,
  domain: 'gpu',
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
  ...described,
  ...rest,
});

const METRICS: readonly Metric[] = [
  gpu(
    'GPU_ENERGY',
    {
      description: 'Energy used by the GPU',
      unit: 'J',
      files: ['hwmon/energy1_input'],
      scale: MICRO,
    },
    { alias: 'GPU_ENERGY', behaviour: 'monotone', aggregation: 'sum' },
  ),
  gpu(
    'GPU_POWER',
    {
      description: 'Power of the GPU, as the driver averages it',
      unit: 'W',
      files: ['hwmon/power1_average', 'hwmon/power1_input'],
      scale: MICRO,
    },
    { alias: 'GPU_POWER', aggregation: 'sum' },
  ),
  gpu(
    'GPU_POWER_LIMIT',
    {
      description: 'Power limit in force',
      unit: 'W',
      files: ['hwmon/power1_max', 'hwmon/power1_cap'],
      scale: MICRO,
    },
    { alias: 'GPU_POWER_LIMIT', aggregation: 'sum' },
  ),
  gpu('GPU_VOLTAGE', {
    description: 'Voltage of the GPU',
    unit: 'V',
    files: ['hwmon/in0_input'],
    scale: MILLI,
  }),
  gpu('GPU_CURRENT_LIMIT', {
    description: 'Current beyond which the GPU is throttled',
    unit: 'A',
    files: ['hwmon/curr1_crit'],
    scale: MILLI,
  }),
  gpu(
    'GPU_TEMPERATURE',
    {
      description: 'Temperature of the GPU',
      unit: 'Celsius',
      files: ['hwmon/temp1_input'],
      scale: MILLI,
    },
    { alias: 'GPU_TEMPERATURE' },
  ),
  gpu(
    'GPU_UTILIZATION',
    {
      description: 'Share of time in which the GPU was busy, 0 to 1',
      unit: '',
      files: ['device/gpu_busy_percent'],
      scale: PERCENT,
    },
    { alias: 'GPU_UTILIZATION' },
  ),
  gpu(
    'GPU_MEMORY_USED',
    {
      description: "Memory of the GPU's own in use",
      unit: 'B',
      files: ['device/mem_info_vram_used'],
      scale: 1,
    },
    { aggregation: 'sum' },
  ),
];

/** Files of a tile: i915 `gt/gtN`, xe `tileN/gt*`, otherwise the card. */
const CHIP_METRICS: readonly Metric[] = [
  gpu(
    'GPU_CORE_FREQUENCY',
    {
      description: "Frequency of the GPU's cores",
      unit: 'Hz',
      files: ['rps_act_freq_mhz', 'gt0/freq0/act_freq', 'gt1/freq0/act_freq', 'gt_act_freq_mhz'],
      scale: MEGA,
    },
    { alias: 'GPU_CORE_FREQUENCY_STATUS', domain: 'gpu_chip' },
  ),
  gpu(
    'GPU_CORE_FREQUENCY_MAX',
    {
      description: "Largest frequency allowed to the GPU's cores",
      unit: 'Hz',
      files: ['rps_max_freq_mhz', 'gt0/freq0/max_freq', 'gt1/freq0/max_freq', 'gt_max_freq_mhz'],
      scale: MEGA,
    },
    { domain: 'gpu_chip' },
  ),
  gpu(
    'GPU_CORE_FREQUENCY_MIN',
    {
      description: "Least frequency allowed to the GPU's cores",
      unit: 'Hz',
      files: ['rps_min_freq_mhz', 'gt0/freq0/min_freq', 'gt1/freq0/min_freq', 'gt_min_freq_mhz'],
      scale: MEGA,
    },
    { domain: 'gpu_chip' },
  ),
  gpu(
    'GPU_CORE_FREQUENCY_MAX_AVAIL',
    {
      description: "Largest frequency of the GPU's cores",
      unit: 'Hz',
      files: ['rps_RP0_freq_mhz', 'gt0/freq0/rp0_freq', 'gt1/freq0/rp0_freq', 'gt_RP0_freq_mhz'],
      scale: MEGA,
    },
    { alias: 'GPU_CORE_FREQUENCY_MAX_AVAIL', domain: 'gpu_chip', behaviour: 'constant' },
  ),
  gpu(
    'GPU_CORE_FREQUENCY_MIN_AVAIL',
    {
      description: "Least frequency of the GPU's cores",
      unit: 'Hz',
      files: ['rps_RPn_freq_mhz', 'gt0/freq0/rpn_freq', 'gt1/freq0/rpn_freq', 'gt_RPn_freq_mhz'],
      scale: MEGA,
    },
    { alias: 'GPU_CORE_FREQUENCY_MIN_AVAIL', domain: 'gpu_chip', behaviour: 'constant' },
  ),
  gpu(
    'GPU_CORE_IDLE_TIME',
    {
      description: "Time in which the GPU's cores were idle (RC6, C6)",
      unit: 's',
      files: [
        'rc6_residency_ms',
        'gt0/gtidle/idle_residency_ms',
        'gt1/gtidle/idle_residency_ms',
        'power/rc6_residency_ms',
      ],
      scale: MILLI,
    },
    { domain: 'gpu_chip', behaviour: 'monotone' },
  ),
];

/** What may be written of what is read: a file of `metric`, in its unit. */
interface Limit {
  readonly declaration: ControlDeclaration;
  readonly metric: Metric;
}

const limit = (name: string, metrics: readonly Metric[], alias: string): Limit => {
  const metric = metrics.find((one) => one.name === `DRM::${name}`) as Metric;
  const { description, unit, domain } = metric;
  const over = unit === 'W' ? 'share' : 'same';
  return { declaration: { name: metric.name, alias, description, unit, domain, over }, metric };
};

const LIMITS: readonly Limit[] = [
  limit('GPU_POWER_LIMIT', METRICS, 'GPU_POWER_LIMIT_CONTROL'),
  limit('GPU_CORE_FREQUENCY_MAX', CHIP_METRICS, 'GPU_CORE_FREQUENCY_MAX_CONTROL'),
  limit('GPU_CORE_FREQUENCY_MIN', CHIP_METRICS, 'GPU_CORE_FREQUENCY_MIN_CONTROL'),
];

/** amdgpu tells its clock in Hz, with its sensors. */
const AMD_CLOCK = 'hwmon/freq1_input';

const declarationOf = ({ files: _f, scale: _s, ...declaration }: Metric): SignalDeclaration =>
  declaration;

/** Folder of the card's sensors; null where it has none. */
function sensorsOf(machine: Machine, { folder }: GpuPlace): string | null {
  const [name] = machine.list(`${folder}/device/hwmon`, /^hwmon\d+$/);
  return name === undefined ? null : `${folder}/device/hwmon/${name}`;
}

/** The first of `files` that holds a number. */
function found(
  machine: Machine,
  card: GpuPlace,
  folder: string,
  files: readonly string[],
): string | null {
  const sensors = sensorsOf(machine, card);
  for (const file of files) {
    const path = file.startsWith('hwmon/')
      ? sensors && `${sensors}/${file.slice('hwmon/'.length)}`
      : `${folder}/${file}`;
    if (path !== null && !Number.isNaN(machine.number(path))) return path;
  }
  return null;
}

interface Place {
  readonly path: string;
  readonly scale: number;
}

export const drm: Provider = {
  name: 'drm',
  source: '/sys/class/drm/cardN (i915, xe, amdgpu; never run on hardware)',
  declares: [...METRICS, ...CHIP_METRICS].map(declarationOf),
  controls: LIMITS.map(({ declaration }) => declaration),
  open({ machine }) {
    const cards = machine.topology.gpus;
    const chips = cards.flatMap((card) => card.chips.map((folder) => ({ card, folder })));
    const signals: Signal[] = [];
    const add = (metric: Metric, places: readonly (Place | null)[]) => {
      if (places.every((place) => place === null)) return;
      signals.push({
        ...declarationOf(metric),
        open: (index, tick) => {
          const place = places[index] ?? null;
          if (place === null) return null;
          const file = tick.file(place.path);
          return metric.behaviour === 'monotone'
            ? totalOfFile(tick, file, place.scale)
            : scaled(file, place.scale);
        },
      });
    };
    for (const metric of METRICS) {
      add(
        metric,
        cards.map((card) => {
          const path = found(machine, card, card.folder, metric.files);
          return path === null ? null : { path, scale: metric.scale };
        }),
      );
    }
    for (const metric of CHIP_METRICS) {
      const isClock = metric === CHIP_METRICS[0];
      add(
        metric,
        chips.map(({ card, folder }) => {
          const path = found(machine, card, folder, metric.files);
          if (path !== null) return { path, scale: metric.scale };
          const clock = isClock ? found(machine, card, folder, [AMD_CLOCK]) : null;
          return clock === null ? null : { path: clock, scale: 1 };
        }),
      );
    }
    const controls = LIMITS.map(({ declaration, metric }): Control => {
      const places =
        declaration.domain === 'gpu' ? cards.map((card) => ({ card, folder: card.folder })) : chips;
      const paths = places.map(({ card, folder }) => found(machine, card, folder, metric.files));
      const text = (value: number) => {
        if (!(value > 0)) throw new RangeError(`${value} ${declaration.unit} is not above 0`);
        return String(Math.round(value / metric.scale));
      };
      const settings = (index: number) => {
        const path = paths[index] ?? null;
        return path === null ? [] : [{ path: machine.path(path), text }];
      };
      return { ...declaration, settings };
    });
    const has = (one: Control) =>
      machine.topology.indices(one.domain).some((index) => one.settings(index).length > 0);
    return { signals, controls: controls.filter(has) };
  },
};
