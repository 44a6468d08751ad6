/** Registers and events of AMD's core counters. Sources: BIOS and kernel developer's guides of families 10h and 17h, and Linux. */
import { UnavailableError } from '../tree.ts';
import { modelName, type Processor } from './processor.ts';

/** Family 10h: PerfEvtSel0 to 3, then PerfCtr0 to 3. */
export const OPTERON_SELECT = 0xc0010000;
export const OPTERON_COUNTER = 0xc0010004;

const DRAM = 0x4307e0n;
const USER = 0x410076n;
const DCACHE = 0x430142n;
const FLOPS = 0x437f03n;
const LINKS = [0x4337f6n, 0x4337f7n, 0x4337f8n];

/**
 * What each CPU counts, by its number modulo 4: an event of the northbridge may use one counter's number on one core
 * of a package only, so the cores share memory accesses and HyperTransport links among them.
 */
export const OPTERON_ROWS: readonly (readonly bigint[])[] = [
  [DRAM, USER, DCACHE, FLOPS],
  [USER, LINKS[0], DCACHE, FLOPS],
  [USER, DCACHE, LINKS[1], FLOPS],
  [USER, DCACHE, FLOPS, LINKS[2]],
];

/** Families 17h, 19h and 1Ah: selector i at SELECT + 2i, counter i after it. */
export const ZEN_SELECT = 0xc0010200;
export const ZEN_COUNTERS = 6;
/** Instructions retired, and the clocks of actual and of nominal frequency. */
export const ZEN_FIXED = [0xc00000e9, 0xc00000e8, 0xc00000e7];
/** Its bit 30 lets instructions retired be counted. */
export const ZEN_HWCR = 0xc0010015;
export const ZEN_HWCR_INSTRUCTIONS = 1n << 30n;
/**
 * From Zen 4 on: a bit per counter lets it count (version 2 of AMD's performance monitoring). Linux clears them when a
 * CPU starts.
 */
export const ZEN_GLOBAL = 0xc0000301;
export const ZEN_GLOBAL_COUNTERS = (1n << BigInt(ZEN_COUNTERS)) - 1n;

/** Counts operations with the counter before it, which then has 64 bits. */
const MERGE = 0xf004000ffn;
const [BRANCHES, MISPREDICTED] = [0x4300c2n, 0x4300c3n];

interface ZenGeneration {
  readonly family: number;
  /** First and last of each range. */
  readonly models: readonly (readonly [number, number])[];
  /** Floating-point operations and MERGE, branches, mispredicted ones, stalls of dispatch by two registers' reasons. */
  readonly events: readonly bigint[];
  /** Whether `ZEN_GLOBAL` is there. */
  readonly global: boolean;
}

const ZEN_2_EVENTS = [0x43ff03n, MERGE, BRANCHES, MISPREDICTED, 0x4308afn, 0x43ffaen];

/**
 * Models whose events are known. Zen 2 and 3: those that tacc_stats knows. Zen 4 and 5, never run on hardware: ranges of
 * Linux's arch/x86/kernel/cpu/amd.c, events of tools/perf/pmu-events/arch/x86/{amdzen4,amdzen5} (fp_ret_sse_avx_ops.all;
 * all reasons for which dispatch stalls), registers of arch/x86/events/amd/core.c.
 */
const ZEN_GENERATIONS: readonly ZenGeneration[] = [
  {
    ...{ family: 0x17, events: ZEN_2_EVENTS, global: false },
    models: [
      [0x31, 0x31],
      [0x49, 0x49],
    ],
  },
  { family: 0x19, models: [[0x01, 0x01]], events: ZEN_2_EVENTS, global: false },
  {
    ...{ family: 0x19, global: true },
    models: [
      [0x10, 0x1f],
      [0x60, 0xaf],
    ],
    events: [0x431f03n, MERGE, BRANCHES, MISPREDICTED, 0x432fafn, 0x43f7aen],
  },
  {
    ...{ family: 0x1a, global: true },
    models: [
      [0x00, 0x2f],
      [0x40, 0x4f],
      [0x60, 0x7f],
    ],
    events: [0x430f03n, MERGE, BRANCHES, MISPREDICTED, 0x4327afn, 0x4357aen],
  },
];

export const isZen = ({ vendor, family }: Processor) =>
  vendor === 'amd' && ZEN_GENERATIONS.some((generation) => generation.family === family);

/** @throws UnavailableError where no events are known for this model */
export function zenGeneration(processor: Processor): ZenGeneration {
  const found = ZEN_GENERATIONS.find(
    ({ family, models }) =>
      family === processor.family &&
      models.some(([first, last]) => first <= processor.model && processor.model <= last),
  );
  if (found !== undefined) return found;
  throw new UnavailableError(
    `no events are known for ${modelName(processor)}: its counters are not programmed`,
  );
}

/** Whether these are the data fabric's events, too. @throws UnavailableError where they are not */
export function requireFabricEvents(processor: Processor): void {
  if (!zenGeneration(processor).global) return;
  throw new UnavailableError(
    `no events of the data fabric are known for ${modelName(processor)}: amd64_umc has its memory traffic`,
  );
}

/** Data fabric: as the core's, at another place; one per memory channel. */
export const FABRIC_SELECT = 0xc0010240;
export const FABRIC_EVENTS = [0x433807n, 0x433847n, 0x433887n, 0x4338c7n];

/** Energy: its unit, a core's, a package's. */
export const AMD_ENERGY_UNIT = 0xc0010299;
export const AMD_ENERGY_CORE = 0xc001029a;
export const AMD_ENERGY_PACKAGE = 0xc001029b;
