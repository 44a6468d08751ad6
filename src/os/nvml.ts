/**
 * NVIDIA's management library, if it is installed: what each GPU reports, and limits that may be changed. Only `limits`
 * has functions that change anything. Source: NVML API reference.
 */
import { loadLibrary } from './library.ts';
import { ACTIVITIES, type GpuActivity, LINKS, NvmlActivity } from './nvml-activity.ts';
import { type GpuLimits, NvmlLimits } from './nvml-limits.ts';

/** Values of one GPU at one moment; null if this GPU does not tell. */
export interface GpuState {
  /** Bytes. */
  total: bigint | null;
  free: bigint | null;
  used: bigint | null;
  /** mW. */
  power: number | null;
  /** Percent of the time in which a kernel ran. */
  utilization: number | null;
}

/**
 * A quantity that one NVML call returns, in NVML's unit: mJ, °C, MHz of the multiprocessors, mW; bits that say
 * what holds the clock down; memory errors since the driver was loaded; PCI Express replays; KiB over NVLink; percent of
 * what its parts can do, since `sm_active` was last asked for.
 */
export type GpuQuantity = Call | GpuActivity | keyof typeof LINKS;

/** Has a call of its own. */
type Call =
  | 'energy'
  | 'power'
  | 'temperature'
  | 'clock'
  | 'limit'
  | 'throttle'
  | 'corrected'
  | 'uncorrected'
  | 'replays';

export interface Nvml {
  readonly count: number;
  read(gpu: number): GpuState;
  /** NaN if this GPU, or this version of the library, does not tell. */
  quantity(gpu: number, what: GpuQuantity): number;
  close(): void;
}

export type { ClockKind, ClockLimits, GpuLimits } from './nvml-limits.ts';

/** The library itself, which tells more than a recording of it does. */
export interface NvmlLibrary extends Nvml {
  /** Percent of the time in which a kernel ran; NaN if it does not tell. */
  utilization(gpu: number): number;
  /** The limits that may be changed; null for a GPU that does not answer. */
  limits(gpu: number): GpuLimits | null;
}

const NAME = 'libnvidia-ml.so.1';

interface Quantity {
  readonly name: string;
  /** The function's parameters between the handle and the result. */
  readonly which: readonly number[];
  readonly wide?: true;
}

/** 0 is the chip's sensor; 1, the SM clock; for errors: corrected or not, and 0 means since the driver was loaded. */
const QUANTITIES: Readonly<Record<Call, Quantity>> = {
  energy: { name: 'nvmlDeviceGetTotalEnergyConsumption', which: [], wide: true },
  power: { name: 'nvmlDeviceGetPowerUsage', which: [] },
  temperature: { name: 'nvmlDeviceGetTemperature', which: [0] },
  clock: { name: 'nvmlDeviceGetClockInfo', which: [1] },
  limit: { name: 'nvmlDeviceGetEnforcedPowerLimit', which: [] },
  throttle: { name: 'nvmlDeviceGetCurrentClocksThrottleReasons', which: [], wide: true },
  corrected: { name: 'nvmlDeviceGetTotalEccErrors', which: [0, 0], wide: true },
  uncorrected: { name: 'nvmlDeviceGetTotalEccErrors', which: [1, 0], wide: true },
  replays: { name: 'nvmlDeviceGetPcieReplayCounter', which: [] },
};

const isActivity = (what: GpuQuantity): what is GpuActivity => Object.hasOwn(ACTIVITIES, what);
const isLink = (what: GpuQuantity): what is keyof typeof LINKS => Object.hasOwn(LINKS, what);

/** Loads and initialises it. @throws Error that says why not */
export function openNvml(path = NAME): NvmlLibrary {
  const lib = loadLibrary(path);
  const bytes = '_Out_ uint8_t *';
  const start = lib.func('int nvmlInit_v2()');
  const end = lib.func('int nvmlShutdown()');
  const countOf = lib.func(`int nvmlDeviceGetCount_v2(${bytes})`);
  const handleOf = lib.func('int nvmlDeviceGetHandleByIndex_v2(unsigned int, _Out_ void **)');
  const memoryOf = lib.func(`int nvmlDeviceGetMemoryInfo(void *, ${bytes})`);
  const powerOf = lib.func(`int nvmlDeviceGetPowerUsage(void *, ${bytes})`);
  const utilizationOf = lib.func(`int nvmlDeviceGetUtilizationRates(void *, ${bytes})`);

  const status = start() as number;
  if (status !== 0) throw new Error(`NVML cannot be initialized: status ${status}`);
  const buffer = Buffer.alloc(24);
  const handles: unknown[] = [];
  if (countOf(buffer) === 0) {
    const count = buffer.readUInt32LE(0);
    for (let gpu = 0; gpu < count; gpu++) {
      const handle: [unknown] = [null];
      handles.push(handleOf(gpu, handle) === 0 ? handle[0] : null);
    }
  }
  const activity = new NvmlActivity(lib);
  const limits = new NvmlLimits(lib);
  const limitsOf = handles.map((handle) => (handle === null ? null : limits.of(handle)));
  const found = new Map<Call, (handle: unknown) => number>();
  const callOf = (what: Call) => {
    const known = found.get(what);
    if (known !== undefined) return known;
    const { name, which } = QUANTITIES[what];
    const types = ['void *', ...which.map(() => 'unsigned int'), bytes].join(', ');
    let call = (_: unknown): number => -1;
    try {
      const func = lib.func(`int ${name}(${types})`);
      call = (handle) => func(handle, ...which, buffer) as number;
    } catch {
      // This version of the library lacks the function.
    }
    found.set(what, call);
    return call;
  };
  return {
    count: handles.length,
    quantity: (gpu, what) => {
      if (handles[gpu] == null) return Number.NaN;
      if (isActivity(what)) return activity.activity(handles[gpu], what);
      if (isLink(what)) return activity.link(handles[gpu], what);
      if (callOf(what)(handles[gpu]) !== 0) return Number.NaN;
      const low = buffer.readUInt32LE(0);
      return QUANTITIES[what].wide ? low + buffer.readUInt32LE(4) * 2 ** 32 : low;
    },
    utilization: (gpu) => {
      if (handles[gpu] == null || utilizationOf(handles[gpu], buffer) !== 0) return Number.NaN;
      return buffer.readUInt32LE(0);
    },
    limits: (gpu) => limitsOf[gpu] ?? null,
    read: (gpu) => {
      const handle = handles[gpu];
      const state: GpuState = {
        total: null,
        free: null,
        used: null,
        power: null,
        utilization: null,
      };
      if (handle === null) return state;
      if (memoryOf(handle, buffer) === 0) {
        state.total = buffer.readBigUInt64LE(0);
        state.free = buffer.readBigUInt64LE(8);
        state.used = buffer.readBigUInt64LE(16);
      }
      if (powerOf(handle, buffer) === 0) state.power = buffer.readUInt32LE(0);
      if (utilizationOf(handle, buffer) === 0) state.utilization = buffer.readUInt32LE(0);
      return state;
    },
    close: () => {
      end();
    },
  };
}
