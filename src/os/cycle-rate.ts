/** The rate of the cycle counter that programs read as a clock (rdtsc), as far as the machine tells it. */
import { textOf } from './proc-file.ts';

export interface CycleRate {
  /** Cycles per second. */
  readonly rate: number;
  /** Where the rate comes from. */
  readonly from: string;
}

/** Null if nothing tells the rate. @param machine folder with a recorded `proc` and `sys` */
export function cycleRate(machine = ''): CycleRate | null {
  const khz = Number(textOf(`${machine}/sys/devices/system/cpu/cpu0/tsc_freq_khz`) ?? '');
  if (khz > 0) return { rate: 1000 * khz, from: 'the kernel' };
  const text = textOf(`${machine}/proc/cpuinfo`) ?? '';
  // Other processors have a different counter.
  if (!/^flags\s*:.*\btsc\b/m.test(text)) return null;
  const nominal = /^model name\s*:.*@ ([\d.]+)GHz/m.exec(text)?.[1];
  if (nominal !== undefined) {
    return { rate: 1e9 * Number(nominal), from: 'the processor’s name' };
  }
  // A virtual machine sees its counter's rate as the CPU's frequency.
  const mhz = Number(/^cpu MHz\s*: ([\d.]+)/m.exec(text)?.[1] ?? '');
  const isVirtual = /^flags\s*:.*\bhypervisor\b/m.test(text);
  return isVirtual && mhz > 0 ? { rate: 1e6 * mhz, from: 'the hypervisor' } : null;
}
