/**
 * Limits of NVIDIA GPUs that may be changed: clocks of the multiprocessors and of the memory (Volta and later), power. Source: NVML
 * API reference, device queries and device commands.
 */
import { callOf, type loadLibrary } from './library.ts';

type Library = ReturnType<typeof loadLibrary>;
type Call = (...words: unknown[]) => number;

/** `core`: the clock of the multiprocessors. */
export type ClockKind = 'core' | 'memory';

/** A clock's limits, in MHz. */
export interface ClockLimits {
  /** The GPU's lowest and highest frequency; NaN if it does not tell. */
  readonly least: number;
  readonly most: number;
  /** Keeps the clock between the two until `unlock`. NVML has no call that tells what is locked. @throws Error that says why not */
  lock(least: number, most: number): void;
  /** @throws Error that says why not */
  unlock(): void;
}

/** The limits of one GPU. */
export interface GpuLimits {
  /** Its UUID: always the same, whoever asks. */
  readonly id: string;
  readonly clocks: Readonly<Record<ClockKind, ClockLimits>>;
  /** mW; NaN if the GPU does not tell. */
  power(): number;
  /** @throws Error that says why not */
  setPower(milliwatts: number): void;
}

/** By nvmlClockType_t. */
const KINDS = {
  core: { type: 1, name: 'Gpu' },
  memory: { type: 2, name: 'Memory' },
} as const;

/** nvmlReturn_t. */
const WHY: Readonly<Record<number, string>> = {
  [-1]: 'this version of NVML cannot',
  2: 'NVML refuses the value',
  3: 'this GPU cannot',
  4: 'NVML permits it to root only',
};

const check = (status: number) => {
  if (status !== 0) throw new Error(WHY[status] ?? `NVML status ${status}`);
};

/** Number of clocks that one call asks for: more than any GPU has. */
const CLOCKS = 1024;

/** Finds the limits of GPUs by their handles. */
export class NvmlLimits {
  private readonly buffer = Buffer.alloc(96);
  private readonly uuid: Call;
  private readonly mostOf: Call;
  private readonly memoryClocks: Call;
  private readonly coreClocks: Call;
  private readonly powerOf: Call;
  private readonly setPower: Call;
  private readonly lib: Library;

  constructor(lib: Library) {
    const bytes = '_Out_ uint8_t *';
    const list = '_Inout_ uint8_t *, _Out_ uint8_t *';
    this.lib = lib;
    this.uuid = callOf(lib, `int nvmlDeviceGetUUID(void *, ${bytes}, unsigned int)`);
    this.mostOf = callOf(lib, `int nvmlDeviceGetMaxClockInfo(void *, unsigned int, ${bytes})`);
    this.memoryClocks = callOf(lib, `int nvmlDeviceGetSupportedMemoryClocks(void *, ${list})`);
    this.coreClocks = callOf(
      lib,
      `int nvmlDeviceGetSupportedGraphicsClocks(void *, unsigned int, ${list})`,
    );
    this.powerOf = callOf(lib, `int nvmlDeviceGetPowerManagementLimit(void *, ${bytes})`);
    this.setPower = callOf(lib, 'int nvmlDeviceSetPowerManagementLimit(void *, unsigned int)');
  }

  of(handle: unknown): GpuLimits {
    const memory = this.supported((...list) => this.memoryClocks(handle, ...list));
    const core = this.supported((...list) => this.coreClocks(handle, Math.max(...memory), ...list));
    return {
      id: this.idOf(handle),
      clocks: {
        core: this.clock(handle, 'core', Math.min(...core)),
        memory: this.clock(handle, 'memory', Math.min(...memory)),
      },
      power: () => this.number(this.powerOf(handle, this.buffer)),
      setPower: (milliwatts) => check(this.setPower(handle, milliwatts)),
    };
  }

  private number(status: number): number {
    return status === 0 ? this.buffer.readUInt32LE(0) : Number.NaN;
  }

  private idOf(handle: unknown): string {
    const { buffer } = this;
    if (this.uuid(handle, buffer, buffer.length) !== 0) return '';
    return buffer.toString('latin1', 0, Math.max(0, buffer.indexOf(0))).replace(/[^\w-]/g, '');
  }

  private clock(handle: unknown, kind: ClockKind, least: number): ClockLimits {
    const { type, name } = KINDS[kind];
    const set = callOf(
      this.lib,
      `int nvmlDeviceSet${name}LockedClocks(void *, unsigned int, unsigned int)`,
    );
    const reset = callOf(this.lib, `int nvmlDeviceReset${name}LockedClocks(void *)`);
    return {
      least: Number.isFinite(least) ? least : Number.NaN,
      most: this.number(this.mostOf(handle, type, this.buffer)),
      lock: (from, to) => check(set(handle, from, to)),
      unlock: () => check(reset(handle)),
    };
  }

  /** Frequencies in MHz that the GPU supports; empty if it does not tell. */
  private supported(ask: (count: Buffer, clocks: Buffer) => number): number[] {
    const count = Buffer.alloc(4);
    const clocks = Buffer.alloc(4 * CLOCKS);
    count.writeUInt32LE(CLOCKS);
    if (ask(count, clocks) !== 0) return [];
    const known = Math.min(CLOCKS, count.readUInt32LE());
    return Array.from({ length: known }, (_, k) => clocks.readUInt32LE(4 * k));
  }
}
