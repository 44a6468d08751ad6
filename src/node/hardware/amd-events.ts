/** Registers and events of AMD's core counters. Sources: BIOS and kernel developer's guides of families 10h and 17h. */
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

/** Families 17h and 19h: selector i at SELECT + 2i, counter i after it. */
export const ZEN_SELECT = 0xc0010200;
export const ZEN_COUNTERS = 6;
/** Instructions retired, and the clocks of actual and of nominal frequency. */
export const ZEN_FIXED = [0xc00000e9, 0xc00000e8, 0xc00000e7];
/** Its bit 30 lets instructions retired be counted. */
export const ZEN_HWCR = 0xc0010015;
export const ZEN_HWCR_INSTRUCTIONS = 1n << 30n;
/** Floating-point operations with the merge that gives them 64 bits, branches, mispredictions, stalls of dispatch. */
export const ZEN_EVENTS = [0x43ff03n, 0xf004000ffn, 0x4300c2n, 0x4300c3n, 0x4308afn, 0x43ffaen];

/** Models of families 17h and 19h whose events these are. */
const ZEN_MODELS: ReadonlyMap<number, readonly number[]> = new Map([
  [0x17, [0x31, 0x49]],
  [0x19, [0x01]],
]);

export const isZen = ({ vendor, family }: Processor) => vendor === 'amd' && ZEN_MODELS.has(family);

/** @throws UnavailableError where it is another model of these families */
export function requireZenEvents(processor: Processor): void {
  if (ZEN_MODELS.get(processor.family)?.includes(processor.model)) return;
  throw new UnavailableError(
    `no events are known for ${modelName(processor)}: its counters are not programmed`,
  );
}

/** Data fabric: as the core's, at another place; one per memory channel. */
export const FABRIC_SELECT = 0xc0010240;
export const FABRIC_EVENTS = [0x433807n, 0x433847n, 0x433887n, 0x4338c7n];

/** Energy: its unit, a core's, a package's. */
export const AMD_ENERGY_UNIT = 0xc0010299;
export const AMD_ENERGY_CORE = 0xc001029a;
export const AMD_ENERGY_PACKAGE = 0xc001029b;
