/**
 * NVIDIA's management library, where it is installed: what each GPU says of itself. Only functions that read are
 * called. Source: NVML API reference.
 */
import { loadLibrary } from './library.ts';

/** Of one GPU, at one moment; null where this GPU does not tell. */
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

export interface Nvml {
  readonly count: number;
  read(gpu: number): GpuState;
  close(): void;
}

const NAME = 'libnvidia-ml.so.1';

/** Loads and initialises it. @throws Error that says why not */
export function openNvml(path = NAME): Nvml {
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
  if (status !== 0) throw new Error(`NVML does not start: status ${status}`);
  const buffer = Buffer.alloc(24);
  const handles: unknown[] = [];
  if (countOf(buffer) === 0) {
    const count = buffer.readUInt32LE(0);
    for (let gpu = 0; gpu < count; gpu++) {
      const handle: [unknown] = [null];
      handles.push(handleOf(gpu, handle) === 0 ? handle[0] : null);
    }
  }
  return {
    count: handles.length,
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
