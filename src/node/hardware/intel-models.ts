/** Intel's server processors by family and model, and what each one's core counters count. Source: Intel SDM, vol. 3B. */
import { UnavailableError } from '../tree.ts';
import { modelName, type Processor } from './processor.ts';

export type Microarchitecture = 'nhm' | 'wtm' | 'snb' | 'ivb' | 'hsw' | 'bdw' | 'skx' | 'knl';

const MODELS: Readonly<Record<Microarchitecture, readonly number[]>> = {
  nhm: [0x1a, 0x1e, 0x1f, 0x2e],
  wtm: [0x25, 0x2c, 0x2f],
  snb: [0x2a, 0x2d],
  ivb: [0x3a, 0x3e],
  hsw: [0x3c, 0x45, 0x46, 0x3f],
  bdw: [0x3d, 0x47, 0x4f],
  skx: [0x55, 0x4e, 0x5e],
  knl: [0x57],
};

/** The names in types and for the user. */
export const MICROARCHITECTURE_NAMES: Readonly<Record<Microarchitecture, string>> = {
  nhm: 'Nehalem',
  wtm: 'Westmere',
  snb: 'Sandy Bridge',
  ivb: 'Ivy Bridge',
  hsw: 'Haswell',
  bdw: 'Broadwell',
  skx: 'Skylake',
  knl: 'Knights Landing',
};

/** Event, unit mask; counts in user mode and in the kernel; enabled. `any`: of both threads of the core. */
export function event(number: number, umask: number, any = false): bigint {
  const ENABLE = 1 << 22;
  const MODES = (1 << 16) | (1 << 17);
  return BigInt(number | (umask << 8) | MODES | ENABLE | (any ? 1 << 21 : 0));
}

const MEMORY_AND_FLOATING_POINT = [
  event(0xd0, 0x81), // loads
  event(0xd1, 0x01), // loads that hit L1
  event(0xd1, 0x02), // loads that hit L2
  event(0xd1, 0x04), // loads that hit the last-level cache
  event(0x51, 0x01), // lines brought into L1
  event(0x10, 0x80), // SSE double precision, scalar
  event(0x10, 0x10), // SSE double precision, packed
  event(0x11, 0x02), // 256 bits, double precision
];
const MEMORY_AND_STALLS = [
  event(0xd0, 0x81),
  event(0xd1, 0x01),
  event(0xd1, 0x02),
  event(0x51, 0x01),
  event(0xd1, 0x04),
  event(0x08, 0x01), // page walks of loads
  event(0xa2, 0x01), // stalls because resources are short
  event(0xf1, 0x07), // lines brought into L2
];
/** Remote and local DRAM, SSE packed and scalar; of both threads of a core. */
const DRAM_AND_SSE = [
  event(0x0f, 0x10, true),
  event(0x0f, 0x20, true),
  event(0x10, 0x10, true),
  event(0x10, 0x20, true),
];
/** Floating-point instructions retired: double precision, scalar to 512 bits wide, then single. */
const FLOATING_POINT = [0x01, 0x04, 0x10, 0x40, 0x02, 0x08, 0x20, 0x80].map((umask) =>
  event(0xc7, umask),
);

/** What counters 0, 1, … count. With fewer counters, the first ones of the list. */
export const CORE_EVENTS: Readonly<Record<Microarchitecture, readonly bigint[]>> = {
  nhm: DRAM_AND_SSE,
  wtm: DRAM_AND_SSE,
  snb: MEMORY_AND_FLOATING_POINT,
  ivb: MEMORY_AND_FLOATING_POINT,
  hsw: MEMORY_AND_STALLS,
  bdw: MEMORY_AND_STALLS,
  skx: FLOATING_POINT,
  knl: [event(0x04, 0x40), event(0x04, 0x02)], // loads, hits in L2
};

/** The microarchitecture; null if it is none of these. */
export function microarchitectureOf(processor: Processor): Microarchitecture | null {
  if (processor.vendor !== 'intel' || processor.family !== 6) return null;
  const found = Object.entries(MODELS).find(([, models]) => models.includes(processor.model));
  return (found?.[0] as Microarchitecture | undefined) ?? null;
}

/** @throws UnavailableError if the processor is none of `wanted` */
export function requireIntel(
  hardware: { readonly processor: Processor },
  wanted: readonly Microarchitecture[],
): void {
  const is = microarchitectureOf(hardware.processor);
  if (is !== null && wanted.includes(is)) return;
  const names = wanted.map((name) => MICROARCHITECTURE_NAMES[name]).join(' or ');
  throw new UnavailableError(`for ${names}; this is ${modelName(hardware.processor)}`);
}
