/**
 * Nominal frequencies of a processor. The sticker frequency comes from CPUID leaf 0x16, from what the driver calls base
 * frequency, or from the processor's name (`@ 2.50GHz`).
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Machine } from '../machine.ts';
import type { Provider, SignalDeclaration } from './provider.ts';

const CPUFREQ = 'sys/devices/system/cpu/cpu0/cpufreq';
const FREQUENCY_LEAF = 0x16;
const STEP_HZ = 100e6;

const frequency = (name: string, alias: string, description: string): SignalDeclaration => ({
  name: `CPUINFO::${name}`,
  alias,
  description,
  unit: 'Hz',
  domain: 'board',
  behaviour: 'constant',
  aggregation: 'expect_same',
  format: 'double',
});

const STICKER = frequency('FREQ_STICKER', 'CPU_FREQUENCY_STICKER', 'Frequency on the sticker');
const MIN = frequency('FREQ_MIN', 'CPU_FREQUENCY_MIN_AVAIL', 'Least frequency');
const MAX = frequency('FREQ_MAX', 'CPU_FREQUENCY_MAX_AVAIL', 'Largest frequency, of a single core');
const STEP = frequency('FREQ_STEP', 'CPU_FREQUENCY_STEP', 'Step between two frequencies');

/** MHz from CPUID leaf 0x16; NaN if it cannot be read. Source: cpuid(4): 16 bytes at the leaf's number. */
function leafMegahertz(machine: Machine): number {
  let file = -1;
  try {
    file = openSync(machine.path('dev/cpu/0/cpuid'), 'r');
    const registers = Buffer.alloc(16);
    readSync(file, registers, 0, 16, 0);
    if (registers.readUInt32LE(0) < FREQUENCY_LEAF) return Number.NaN;
    readSync(file, registers, 0, 16, FREQUENCY_LEAF);
    return registers.readUInt16LE(0) || Number.NaN;
  } catch {
    return Number.NaN;
  } finally {
    if (file >= 0) closeSync(file);
  }
}

function sticker(machine: Machine): number {
  const ofName = /^model name\s*:.*@\s*([\d.]+)\s*GHz/m.exec(machine.text('proc/cpuinfo') ?? '');
  const told = [
    machine.isThisMachine ? leafMegahertz(machine) * 1e6 : Number.NaN,
    machine.number(`${CPUFREQ}/base_frequency`) * 1e3,
    Number(ofName?.[1] ?? Number.NaN) * 1e9,
  ];
  return told.find((hertz) => hertz > 0) ?? Number.NaN;
}

export const cpuinfo: Provider = {
  name: 'cpuinfo',
  source: 'CPUID leaf 0x16, /proc/cpuinfo, /sys/devices/system/cpu/cpu0/cpufreq',
  declares: [STICKER, MIN, MAX, STEP],
  open({ machine }) {
    const min = machine.number(`${CPUFREQ}/cpuinfo_min_freq`) * 1e3;
    const max = machine.number(`${CPUFREQ}/cpuinfo_max_freq`) * 1e3;
    const values: readonly (readonly [SignalDeclaration, number])[] = [
      [STICKER, sticker(machine)],
      [MIN, min],
      [MAX, max],
      [STEP, min > 0 ? STEP_HZ : Number.NaN],
    ];
    const found = values.filter(([, value]) => value > 0);
    return {
      signals: found.map(([declaration, value]) => ({
        ...declaration,
        computed: true,
        open: () => ({ read: () => value }),
      })),
    };
  },
};
