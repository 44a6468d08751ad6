/**
 * Settings of NVIDIA's GPUs: locked clocks and the power limit. Source: geopm_pio_nvml(7), NVML API reference.
 *
 * NVML sets both ends of a clock's range in one call, and reports neither. So each end reads as what this process wrote. 0 means the
 * GPU's own end: before anything was written, and when settings are restored. If neither end is set, the clock is not locked.
 */
import type { ClockKind, ClockLimits, GpuLimits, NvmlLibrary } from '../../os/nvml.ts';
import type { Control, ControlDeclaration, ControlSetting } from './provider.ts';

type End = 'least' | 'most';

const NAMES: Readonly<Record<ClockKind, string>> = { core: 'CORE', memory: 'MEMORY' };
const ENDS: Readonly<Record<End, string>> = { most: 'MAX', least: 'MIN' };

const clockControl = (kind: ClockKind, end: End): ControlDeclaration => ({
  name: `NVML::GPU_${NAMES[kind]}_FREQUENCY_${ENDS[end]}_CONTROL`,
  // GPUs of other makers have no such control of memory.
  ...(kind === 'core' && { alias: `GPU_CORE_FREQUENCY_${ENDS[end]}_CONTROL` }),
  description: `${end === 'most' ? 'Largest' : 'Least'} frequency allowed to the GPU's ${kind === 'core' ? 'multiprocessors' : 'memory'}`,
  unit: 'Hz',
  domain: 'gpu_chip',
  over: 'same',
});

const POWER: ControlDeclaration = {
  name: 'NVML::GPU_POWER_LIMIT_CONTROL',
  alias: 'GPU_POWER_LIMIT_CONTROL',
  description: 'Power limit of the GPU',
  unit: 'W',
  domain: 'gpu',
  over: 'share',
};

const CLOCKS = (['core', 'memory'] as const).flatMap((kind) =>
  (['most', 'least'] as const).map((end) => ({ kind, end, declaration: clockControl(kind, end) })),
);

export const NVML_CONTROLS: readonly ControlDeclaration[] = [
  ...CLOCKS.map(({ declaration }) => declaration),
  POWER,
];

/** Both ends of a clock's range, as this process wrote them. */
class ClockRange {
  private readonly limits: ClockLimits;
  private readonly id: string;
  /** MHz; 0: the GPU's own. */
  private readonly ends: Record<End, number> = { least: 0, most: 0 };

  constructor(limits: ClockLimits, id: string) {
    this.limits = limits;
    this.id = id;
  }

  /** No settings if the GPU does not tell its highest frequency. */
  setting(end: End): ControlSetting[] {
    if (Number.isNaN(this.limits.most)) return [];
    return [
      {
        path: `${this.id}-${end}`,
        text: (hertz) => {
          if (!(hertz > 0)) throw new RangeError(`${hertz} Hz is not above 0`);
          return String(Math.max(1, Math.round(hertz / 1e6)));
        },
        device: {
          read: () => String(this.ends[end]),
          write: (text) => this.write(end, Number(text)),
        },
      },
    ];
  }

  /** The other end moves if it is in the way. */
  private write(end: End, megahertz: number): void {
    const { ends, limits } = this;
    const wanted = { ...ends, [end]: megahertz };
    if (wanted.least > 0 && wanted.most > 0 && wanted.least > wanted.most) {
      wanted.least = megahertz;
      wanted.most = megahertz;
    }
    const { least, most } = wanted;
    if (least === 0 && most === 0) limits.unlock();
    else limits.lock(least || limits.least || 0, most || limits.most);
    Object.assign(ends, wanted);
  }
}

function powerSetting(limits: GpuLimits, id: string): ControlSetting[] {
  if (Number.isNaN(limits.power())) return [];
  return [
    {
      path: `${id}/power-limit`,
      text: (watts) => {
        if (!(watts > 0)) throw new RangeError(`${watts} W is not above 0`);
        return String(Math.round(watts * 1e3));
      },
      device: {
        read: () => String(limits.power()),
        write: (text) => limits.setPower(Number(text)),
      },
    },
  ];
}

/**
 * The controls of the GPUs that a library knows.
 * @param first indices of the first GPU, as a GPU and as a chip
 */
export function nvmlControls(
  library: NvmlLibrary,
  first: { readonly gpu: number; readonly chip: number },
): Control[] {
  const gpus = Array.from({ length: library.count }, (_, gpu) => {
    const limits = library.limits(gpu);
    if (limits === null) return null;
    const id = `nvml/${limits.id || gpu}`;
    return {
      power: powerSetting(limits, id),
      core: new ClockRange(limits.clocks.core, `${id}/core-frequency`),
      memory: new ClockRange(limits.clocks.memory, `${id}/memory-frequency`),
    };
  });
  const clocks = CLOCKS.map(({ kind, end, declaration }): Control => {
    const settings = gpus.map((gpu) => gpu?.[kind].setting(end) ?? []);
    return { ...declaration, settings: (index) => settings[index - first.chip] ?? [] };
  });
  const power: Control = { ...POWER, settings: (index) => gpus[index - first.gpu]?.power ?? [] };
  const has = (one: Control) =>
    gpus.some((_, k) => one.settings(k + (one === power ? first.gpu : first.chip)).length > 0);
  return [...clocks, power].filter(has);
}
