/**
 * `nvidia_gpu`: memory, power and utilisation of each GPU, through NVML; its persistence mode is left alone. A GPU that
 * hangs does not answer, so a child process asks; as the schema must be known before, what no GPU tells is 0 then. In a
 * recorded tree, `nvml/N` holds lines of a key and its value for GPU N, and a key that none tells is left out.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import { type GpuState, type Nvml, openNvml } from '../../os/nvml.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

/** The state's value behind each key. */
const FIELDS = ['total', 'free', 'used', 'power', 'utilization'] as const;
const METRICS: readonly Metric[] = [
  gauge('memtotal', 'memory of the GPU', 'B'),
  gauge('memfree', 'memory that is free', 'B'),
  gauge('memused', 'memory that is used', 'B'),
  gauge('power', 'power drawn', 'mW'),
  gauge('utilization', 'time in which a kernel ran, in percent'),
];

function recorded(tree: NodeTree): Nvml {
  const files = () => {
    try {
      return readdirSync(join(tree.root, 'nvml')).filter((name) => /^\d+$/.test(name));
    } catch {
      return [];
    }
  };
  const names = files().sort((a, b) => Number(a) - Number(b));
  return {
    count: names.length,
    read: (gpu) => {
      const text = tree.text(`nvml/${names[gpu]}`) ?? '';
      const value = (key: string) => new RegExp(`^${key} (\\d{1,20})$`, 'm').exec(text)?.[1];
      const [total, free, used, power, utilization] = METRICS.map(({ key }) => value(key));
      const big = (digits: string | undefined) => (digits === undefined ? null : BigInt(digits));
      const small = (digits: string | undefined) => (digits === undefined ? null : Number(digits));
      return {
        total: big(total),
        free: big(free),
        used: big(used),
        power: small(power),
        utilization: small(utilization),
      };
    },
    quantity: (gpu, what) => {
      const text = tree.text(`nvml/${names[gpu]}`) ?? '';
      return Number(new RegExp(`^${what} (\\d{1,15})$`, 'm').exec(text)?.[1] ?? Number.NaN);
    },
    close: () => {},
  };
}

class Gpus implements Collector {
  readonly metrics: readonly Metric[];
  private readonly fields: readonly (keyof GpuState)[];
  private readonly nvml: Nvml;
  private readonly whole: boolean;
  private readonly devices: readonly number[];

  /** `whole`: all keys are in the schema, whatever the GPUs tell. */
  constructor(nvml: Nvml, whole: boolean) {
    this.nvml = nvml;
    this.whole = whole;
    const states = Array.from({ length: nvml.count }, (_, gpu) => nvml.read(gpu));
    // A key that no GPU tells is not in the schema; one that lacks what others tell has no record.
    const told = FIELDS.map((field) => states.some((state) => state[field] !== null));
    const has = told.map((one) => one || whole);
    this.fields = FIELDS.filter((_, k) => has[k]);
    this.metrics = METRICS.filter((_, k) => has[k]);
    this.devices = states.flatMap((state, gpu) => (this.isTold(state) ? [gpu] : []));
    if (this.devices.length === 0) throw new UnavailableError('no GPU that NVML can read');
  }

  /** Whether the GPU tells what its record needs: one that has fallen off the bus tells nothing. */
  private isTold(state: GpuState): boolean {
    const isThere = (field: keyof GpuState) => state[field] !== null;
    if (this.whole) return this.fields.some(isThere);
    return this.fields.length > 0 && this.fields.every(isThere);
  }

  collect(writer: RawWriter): void {
    for (const gpu of this.devices) {
      const state = this.nvml.read(gpu);
      if (!this.isTold(state)) continue;
      writer.record('nvidia_gpu', String(gpu));
      for (const field of this.fields) writer.bigint(BigInt(state[field] ?? 0));
      writer.endRecord(this.metrics.length);
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
export function nvmlOf(tree: NodeTree): Nvml {
  if (!tree.isThisMachine) return recorded(tree);
  lookForDriver(tree);
  try {
    return openNvml();
  } catch (error) {
    throw new UnavailableError((error as Error).message);
  }
}

/** NVML of this machine may. @throws UnavailableError without a driver */
export const nvmlMayBlock = (tree: NodeTree): boolean => {
  if (tree.isThisMachine) lookForDriver(tree);
  return tree.isThisMachine;
};

export const NVIDIA_GPU: NodeType = {
  name: 'nvidia_gpu',
  help: 'NVIDIA GPUs: memory, power, utilisation',
  device: 'GPU',
  source: 'NVML',
  metrics: METRICS,
  mayBlock: nvmlMayBlock,
  open: (tree) => {
    const nvml = nvmlOf(tree);
    try {
      return new Gpus(nvml, tree.waits);
    } catch (error) {
      nvml.close();
      throw error;
    }
  },
};
