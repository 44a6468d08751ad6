/**
 * Events of core counters by the value of their control register. Source: the registers that versions 1.0 to 2.3.5 of
 * tacc_stats program, and the names that its post-processing gives them.
 */
import type { EventNames } from './event-names.ts';

/** Intel: event | umask << 8, counted in user and kernel mode and enabled. */
const intel = (event: number, umask: number) =>
  event | (umask << 8) | (1 << 16) | (1 << 17) | (1 << 22);

/** Bit 21 (any-thread) does not change which event is counted. */
function withAnyThread(events: EventNames): EventNames {
  const all = new Map(events);
  for (const [value, name] of events) all.set(value | (1n << 21n), name);
  return all;
}

const of = (list: readonly (readonly [number, string])[]): EventNames =>
  new Map(list.map(([value, name]) => [BigInt(value >>> 0), name]));

/** Sandy Bridge to Skylake, and Knights Landing: their codes do not overlap. */
export const CORE_EVENTS = withAnyThread(
  of([
    [intel(0xc7, 0x01), 'FP_ARITH_INST_RETIRED_SCALAR_DOUBLE'],
    [intel(0xc7, 0x02), 'FP_ARITH_INST_RETIRED_SCALAR_SINGLE'],
    [intel(0xc7, 0x04), 'FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE'],
    [intel(0xc7, 0x08), 'FP_ARITH_INST_RETIRED_128B_PACKED_SINGLE'],
    [intel(0xc7, 0x10), 'FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE'],
    [intel(0xc7, 0x20), 'FP_ARITH_INST_RETIRED_256B_PACKED_SINGLE'],
    [intel(0xc7, 0x40), 'FP_ARITH_INST_RETIRED_512B_PACKED_DOUBLE'],
    [intel(0xc7, 0x80), 'FP_ARITH_INST_RETIRED_512B_PACKED_SINGLE'],
    [intel(0xd0, 0x81), 'LOAD_OPS_ALL'],
    [intel(0xd1, 0x01), 'LOAD_OPS_L1_HIT'],
    [intel(0xd1, 0x02), 'LOAD_OPS_L2_HIT'],
    [intel(0xd1, 0x04), 'LOAD_OPS_LLC_HIT'],
    [intel(0xd1, 0x08), 'MEM_LOAD_UOPS_RETIRED_L1_MISS'],
    [intel(0xd1, 0x10), 'MEM_LOAD_UOPS_RETIRED_L2_MISS'],
    [intel(0xd1, 0x20), 'MEM_LOAD_UOPS_RETIRED_L3_MISS'],
    [intel(0xd1, 0x40), 'MEM_LOAD_UOPS_RETIRED_HIT_LFB'],
    [intel(0x10, 0x10), 'SSE_DOUBLE_PACKED'],
    [intel(0x10, 0x80), 'SSE_DOUBLE_SCALAR'],
    [intel(0x10, 0x90), 'SSE_DOUBLE_ALL'],
    [intel(0x11, 0x02), 'SIMD_DOUBLE_256'],
    [intel(0x51, 0x01), 'LOAD_L1D_ALL'],
    [intel(0xa2, 0x01), 'STALLS'],
    [intel(0xf1, 0x07), 'L2_LINES_IN_ALL'],
    [intel(0x08, 0x01), 'DTLB_LOAD_MISSES_WALK'],
    [intel(0x04, 0x40), 'MEM_UOPS_RETIRED_ALL_LOADS'],
    [intel(0x04, 0x02), 'MEM_UOPS_RETIRED_L2_HIT_LOADS'],
  ]),
);

/** Nehalem and Westmere. */
export const NHM_EVENTS = withAnyThread(
  of([
    [intel(0x0f, 0x10), 'MEM_UNCORE_RETIRED_REMOTE_DRAM'],
    [intel(0x0f, 0x20), 'MEM_UNCORE_RETIRED_LOCAL_DRAM'],
    [intel(0x10, 0x01), 'FP_COMP_OPS_EXE_X87'],
    [intel(0x10, 0x10), 'FP_COMP_OPS_EXE_SSE_PACKED'],
    [intel(0x10, 0x20), 'FP_COMP_OPS_EXE_SSE_SCALAR'],
    [intel(0xcb, 0x01), 'MEM_LOAD_RETIRED_L1D_HIT'],
  ]),
);

export const CORE_FIXED = ['INSTRUCTIONS_RETIRED', 'CLOCKS_UNHALTED_CORE', 'CLOCKS_UNHALTED_REF'];

/**
 * AMD family 10h: cores count different events, because each event of the northbridge may be counted on one core
 * only (amd64_pmc.c of tacc_stats). `B` per event: a DRAM access or cache fill moves 64, a HyperTransport dword 4.
 */
export const AMD_10H: ReadonlyMap<
  bigint,
  { readonly type: string; readonly name: string; readonly bytes: number }
> = new Map([
  [0x4307e0n, { type: 'amd64_sock', name: 'DRAM', bytes: 64 }],
  [0x4337f6n, { type: 'amd64_sock', name: 'HT0', bytes: 4 }],
  [0x4337f7n, { type: 'amd64_sock', name: 'HT1', bytes: 4 }],
  [0x4337f8n, { type: 'amd64_sock', name: 'HT2', bytes: 4 }],
  [0x410076n, { type: 'amd64_core', name: 'USER', bytes: 0 }],
  [0x430142n, { type: 'amd64_core', name: 'DCSF', bytes: 64 }],
  [0x437f03n, { type: 'amd64_core', name: 'SSE_FLOPS', bytes: 0 }],
]);

/** AMD families 17h, 19h and 1Ah; Zen 4 and Zen 5 have other masks for the sums. */
export const AMD_ZEN: EventNames = new Map([
  [0x43ff03n, 'FLOPS'],
  [0x431f03n, 'FLOPS'],
  [0x430f03n, 'FLOPS'],
  [0xf004000ffn, 'MERGE'],
  [0x4300c2n, 'BRANCH_INST_RETIRED'],
  [0x4300c3n, 'BRANCH_INST_RETIRED_MISS'],
  [0x4308afn, 'DISPATCH_STALL_CYCLES1'],
  [0x432fafn, 'DISPATCH_STALL_CYCLES1'],
  [0x4327afn, 'DISPATCH_STALL_CYCLES1'],
  [0x43ffaen, 'DISPATCH_STALL_CYCLES0'],
  [0x43f7aen, 'DISPATCH_STALL_CYCLES0'],
  [0x4357aen, 'DISPATCH_STALL_CYCLES0'],
]);
