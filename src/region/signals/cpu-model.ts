/** Finds out which processor this is. Source: proc_cpuinfo(5). */
import type { Machine } from '../machine.ts';

export interface CpuModel {
  /** Such as GenuineIntel; '' if the kernel does not tell. */
  readonly vendor: string;
  /** NaN if the kernel does not tell. */
  readonly family: number;
  readonly model: number;
}

export function cpuModel(machine: Machine): CpuModel {
  const text = machine.text('proc/cpuinfo') ?? '';
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.+)$`, 'm').exec(text)?.[1] ?? '';
  return {
    vendor: field('vendor_id'),
    family: Number.parseInt(field('cpu family'), 10),
    model: Number.parseInt(field('model'), 10),
  };
}
