/** For each type of registers, a machine made by hand, and the records worked out from its registers. */
import type { Machine } from './support.ts';

/** Lines of `msr/cpuN`: registers from `first` (hexadecimal) on. */
export function msr(
  ...rows: readonly (readonly [string, readonly (number | bigint)[], number?])[]
): string {
  return rows
    .flatMap(([first, values, step = 1]) =>
      values.map((value, k) => `${(Number.parseInt(first, 16) + k * step).toString(16)} ${value}`),
    )
    .join('\n');
}

/** One package, one core, one CPU. */
export const ONE = [[0, 0]] as const;
/** Two threads of one core. */
export const THREADS = [
  [0, 0],
  [0, 0],
] as const;

export const intel = (model: number) => ['GenuineIntel', 6, model] as const;
/** 2^48 - 1 and 2^40 - 1: counters about to roll over. */
const TOP48 = 281474976710655n;
const TOP40 = 1099511627775n;

/** Eight selectors, eight counters, three that always count the same. */
export const EIGHT = msr(
  ['186', [11, 12, 13, 14, 15, 16, 17, 18]],
  ['c1', [21, 22, 23, 24, 25, 26, 27, TOP48]],
  ['309', [31, 32, 33]],
);
const FOUR = msr(['186', [11, 12, 13, 14]], ['c1', [21, 22, 23, TOP48]], ['309', [31, 32, 33]]);
export const EIGHT_LINE = '11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 281474976710655 31 32 33';
const FOUR_LINE = '11 12 13 14 21 22 23 281474976710655 31 32 33';

/** Caching agents of cores 0 and 1 of package 0, read on its CPU 0. */
export const TWO_CORES = [
  [0, 0],
  [0, 1],
] as const;
export const CBO_V1 = msr(
  ['d10', [1, 2, 3, 4]],
  ['d16', [5, 6, 7, 17592186044415n]],
  ['d30', [11, 12, 13, 14]],
  ['d36', [15, 16, 17, 18]],
);
export const CBO_V1_LINES = ['0/0 1 2 3 4 5 6 7 17592186044415', '0/1 11 12 13 14 15 16 17 18'];
const CBO_V2 = msr(
  ['e01', [1, 2, 3, 4]],
  ['e08', [5, 6, 7, TOP48]],
  ['e11', [11, 12, 13, 14]],
  ['e18', [15, 16, 17, 18]],
);
const CBO_V2_LINES = ['0/0 1 2 3 4 5 6 7 281474976710655', '0/1 11 12 13 14 15 16 17 18'];
const PCU_V1 = msr(['c30', [1, 2, 3, 4]], ['c36', [5, 6, 7, 8]], ['3fc', [9, 10]]);
const PCU_V2 = msr(['711', [1, 2, 3, 4]], ['717', [5, 6, 7, 8]], ['3fc', [9, 10]]);
const PCU_LINES = ['0 1 2 3 4 5 6 7 8 9 10'];

/** Selectors 1 to 4; counters 5, 2^32 + 6, 7 and 2^48 - 1; clocks 2 · 2^32 + 9. */
const BOX = {
  216: 1,
  220: 2,
  224: 3,
  228: 4,
  160: 5,
  168: 6,
  172: 1,
  176: 7,
  184: 0xffffffff,
  188: 0xffff,
  208: 9,
  212: 2,
};
const BOX_LINE = '1 2 3 4 5 4294967302 7 281474976710655';
const BOX_CLOCKS = `${BOX_LINE} 8589934601`;
const boxes = (...ids: readonly number[]): Machine['pci'] =>
  Object.fromEntries(ids.map((id, k) => [`7f/${10 + k}.0`, [id, BOX] as const]));

/** Memory with boxes at these pages; of a box that is not there all bits are set. */
function memory(boxes: Readonly<Record<number, 'box' | 'nothing'>>): Buffer {
  const bytes = Buffer.alloc(Math.max(...Object.keys(boxes).map(Number)) + 4096);
  for (const [page, what] of Object.entries(boxes)) {
    const at = Number(page) + 0x800;
    if (what === 'nothing') {
      bytes.fill(0xff, at, at + 0x80);
      continue;
    }
    for (const [k, value] of [5n, 4294967302n, 7n, TOP48].entries()) {
      bytes.writeUInt32LE(k + 1, at + 0x40 + 4 * k);
      bytes.writeBigUInt64LE(value, at + 8 + 8 * k);
    }
    bytes.writeBigUInt64LE(8589934601n, at + 0x38);
  }
  return bytes;
}
/** A package whose first controller is at 1000h, and the boxes of its channels. */
const inMemory = (
  type: string,
  model: number,
  id: number,
  second: number,
  there: boolean,
): Case => ({
  type,
  on: {
    processor: intel(model),
    cpus: ONE,
    pci: { '7e/00.1': [id, { 216: 1 }] },
    files: { 'dev/mem': memory({ 143360: 'box', [second]: there ? 'box' : 'nothing' }) },
  },
  lines: [`7e/0.0 ${BOX_CLOCKS}`, ...(there ? [`7e/0.1 ${BOX_CLOCKS}`] : [])],
});

/** The box, 800h into a page, of memory that `memory` makes. */
const BOX_AT = 0x23800;
/** A table of counters at 1000h: of a caching agent in registers, a channel in memory, and rows of nothing. */
function discovery(): Buffer {
  const bytes = memory({ [BOX_AT - 0x800]: 'box' });
  const rows = [
    // 4 rows, each 10h numbers apart; the table's own control.
    [0x0004_1000n, 1n, 0n],
    [(0n << 62n) | 0x0830_0840n, 0x2000n, 0n],
    [(1n << 62n) | 0x0830_4004n, BigInt(BOX_AT), (11n << 16n) | 6n],
    [0n, 0n, 0n],
    [2n ** 64n - 1n, 2n ** 64n - 1n, 2n ** 64n - 1n],
  ];
  for (const [k, row] of rows.entries()) {
    for (const [j, value] of row.entries()) bytes.writeBigUInt64LE(value, 0x1000 + 128 * k + 8 * j);
  }
  return bytes;
}

export interface Case {
  readonly type: string;
  readonly on: Machine;
  /** Devices and values. */
  readonly lines: readonly string[];
}

const core = (
  type: string,
  model: number,
  registers: string,
  line: string,
  cpus: Machine['cpus'] = ONE,
): Case => ({
  type,
  on: { processor: intel(model), cpus, msr: { 0: registers, 1: registers } },
  lines: (cpus ?? []).map((_, cpu) => `${cpu} ${line}`),
});
const agents = (
  type: string,
  model: number,
  registers: string,
  lines: readonly string[],
): Case => ({
  type,
  on: { processor: intel(model), cpus: TWO_CORES, msr: { 0: registers } },
  lines,
});
const functions = (type: string, model: number, ids: readonly number[], line: string): Case => ({
  type,
  on: { processor: intel(model), cpus: ONE, pci: boxes(...ids) },
  lines: ids.map((_, k) => `7f/${10 + k}.0 ${line}`),
});

const FIXED_FIRST = msr(
  ['309', [31, 32, 33]],
  ['186', [11, 12, 13, 14]],
  ['c1', [21, 22, 23, TOP48]],
);
const FIXED_FIRST_LINE = '31 32 33 11 12 13 14 21 22 23 281474976710655';

export const ZEN = ['AuthenticAMD', 0x17, 0x31] as const;

export const CASES: readonly Case[] = [
  {
    type: 'amd64_df',
    on: {
      processor: ZEN,
      cpus: TWO_CORES,
      msr: { 0: msr(['c0010240', [1, 2, 3, 4], 2], ['c0010241', [5, 6, 7, TOP48], 2]) },
    },
    lines: ['0 1 2 3 4 5 6 7 281474976710655'],
  },
  {
    type: 'amd64_pmc',
    on: {
      processor: ZEN,
      cpus: ONE,
      msr: {
        0: msr(
          ['c0010200', [1, 2, 3, 4, 5, 6], 2],
          ['c0010201', [11, 12, 13, 14, 15, TOP48], 2],
          ['c00000e9', [21]],
          ['c00000e8', [22]],
          ['c00000e7', [23]],
        ),
      },
    },
    lines: ['0 1 2 3 4 5 6 11 12 13 14 15 281474976710655 21 22 23'],
  },
  {
    // Cores of 4294967295 and 10 counts: 4294967305, or 9 modulo 2^32.
    type: 'amd64_rapl',
    on: {
      processor: ZEN,
      cpus: TWO_CORES,
      msr: {
        0: msr(['c0010299', [0xa1003, 4294967295n, 777]]),
        1: msr(['c0010299', [0xa1003, 10, 777]]),
      },
    },
    lines: ['0 9 777 659459'],
  },
  {
    // Two of at most twelve controllers.
    type: 'amd64_umc',
    on: {
      processor: ['AuthenticAMD', 0x19, 0x11],
      cpus: ONE,
      msr: {
        0: msr(
          ['c0010800', [1, 2, 3, 4], 2],
          ['c0010801', [5, 6, 7, TOP48], 2],
          ['c0010808', [11, 12, 13, 14], 2],
          ['c0010809', [15, 16, 17, 18], 2],
        ),
      },
    },
    lines: ['0/0 1 2 3 4 5 6 7 281474976710655', '0/1 11 12 13 14 15 16 17 18'],
  },
  core('intel_4pmc3', 0x4f, FOUR, FOUR_LINE, THREADS),
  core('intel_8pmc3', 0x55, EIGHT, EIGHT_LINE),
  core('intel_bdw', 0x4f, EIGHT, EIGHT_LINE),
  agents('intel_bdw_cbo', 0x4f, CBO_V2, CBO_V2_LINES),
  functions('intel_bdw_hau', 0x4f, [0x6f30, 0x6f38], BOX_LINE),
  functions('intel_bdw_imc', 0x4f, [0x6fb0, 0x6fd5], BOX_CLOCKS),
  agents('intel_bdw_pcu', 0x4f, PCU_V2, PCU_LINES),
  functions('intel_bdw_qpi', 0x4f, [0x6f32, 0x6f3a], BOX_LINE),
  functions('intel_bdw_r2pci', 0x4f, [0x6f34], BOX_LINE),
  {
    type: 'intel_gnr_imc',
    on: {
      processor: intel(0xad),
      cpus: ONE,
      // A capability of another kind, then that of counters (1), whose table is at the second base address, of 64 bits.
      pci: {
        'fe/03.1': [0x09a7, { 256: 0x11_81_00_0b, 280: 0x10023, 288: 1, 292: 1, 20: 0x1004 }],
      },
      files: { 'dev/mem': discovery() },
    },
    lines: [`fe/11 ${BOX_CLOCKS}`],
  },
  core('intel_hsw', 0x3f, EIGHT, EIGHT_LINE),
  agents('intel_hsw_cbo', 0x3f, CBO_V2, CBO_V2_LINES),
  functions('intel_hsw_hau', 0x3f, [0x2f30, 0x2f38], BOX_LINE),
  core('intel_hsw_ht', 0x3f, FOUR, FOUR_LINE, THREADS),
  functions('intel_hsw_imc', 0x3f, [0x2fb0, 0x2fd5], BOX_CLOCKS),
  agents('intel_hsw_pcu', 0x3f, PCU_V2, PCU_LINES),
  functions('intel_hsw_qpi', 0x3f, [0x2f32, 0x2f3a], BOX_LINE),
  functions('intel_hsw_r2pci', 0x3f, [0x2f34], BOX_LINE),
  inMemory('intel_icx_imc', 0x6a, 0x3451, 0x27000, false),
  core('intel_ivb', 0x3e, EIGHT, EIGHT_LINE),
  agents('intel_ivb_cbo', 0x3e, CBO_V1, CBO_V1_LINES),
  functions('intel_ivb_hau', 0x3e, [0x0e30, 0x0e38], BOX_LINE),
  functions('intel_ivb_imc', 0x3e, [0x0eb0, 0x0eb5], BOX_CLOCKS),
  agents('intel_ivb_pcu', 0x3e, PCU_V1, PCU_LINES),
  functions('intel_ivb_qpi', 0x3e, [0x0e32, 0x0e3a], BOX_LINE),
  functions('intel_ivb_r2pci', 0x3e, [0x0e34], BOX_LINE),
  core(
    'intel_knl',
    0x57,
    msr(['186', [11, 12]], ['c1', [21, TOP40]], ['309', [31, 32, 33]]),
    '11 12 21 1099511627775 31 32 33',
  ),
  {
    type: 'intel_knl_edc',
    on: {
      processor: intel(0x57),
      cpus: ONE,
      pci: {
        'ff/0f.0': [0x7833, { 1056: 1, 1060: 2, 1064: 3, 1068: 4, 1024: 5, 1048: 8 }],
        'ff/18.2': [0x7841, { 2592: 1, 2604: 4, 2560: 5, 2564: 1 }],
      },
    },
    lines: ['ff/0f.0 1 2 3 4 5 0 0 8', 'ff/18.2 1 0 0 4 4294967301 0 0 0'],
  },
  {
    type: 'intel_knl_mc',
    on: {
      processor: intel(0x57),
      cpus: ONE,
      pci: { 'ff/0a.0': [0x7843, { 1056: 1, 1024: 5 }], 'ff/08.2': [0x7841, BOX] },
    },
    lines: [`ff/08.2 ${BOX_LINE}`, 'ff/0a.0 1 0 0 0 5 0 0 0'],
  },
  core('intel_nhm', 0x1a, FIXED_FIRST, FIXED_FIRST_LINE),
  {
    type: 'intel_rapl',
    on: {
      processor: intel(0x2d),
      cpus: ONE,
      msr: { 0: msr(['606', [0xa1003]], ['611', [4294967295n]], ['639', [2]], ['619', [3]]) },
    },
    lines: ['0 4294967295 2 3 659459'],
  },
  core('intel_skx', 0x55, FOUR, FOUR_LINE, THREADS),
  agents('intel_skx_cha', 0x55, CBO_V2, CBO_V2_LINES),
  functions('intel_skx_imc', 0x55, [0x2042, 0x204a], BOX_LINE),
  core('intel_snb', 0x2d, EIGHT, EIGHT_LINE),
  agents('intel_snb_cbo', 0x2d, CBO_V1, CBO_V1_LINES),
  functions('intel_snb_hau', 0x2d, [0x3c46], BOX_LINE),
  functions('intel_snb_imc', 0x2d, [0x3cb0, 0x3cb5], BOX_CLOCKS),
  agents('intel_snb_pcu', 0x2d, PCU_V1, PCU_LINES),
  functions('intel_snb_qpi', 0x2d, [0x3c41, 0x3c42], BOX_LINE),
  functions('intel_snb_r2pci', 0x2d, [0x3c43], BOX_LINE),
  inMemory('intel_spr_imc', 0x8f, 0x3251, 0x2b000, true),
  {
    type: 'intel_uncore',
    on: {
      processor: intel(0x2c),
      cpus: TWO_CORES,
      msr: {
        0: msr(
          ['391', [1, 2, 3, 4, 5, 6]],
          ['3b0', [11, 12, 13, 14, 15, 16, 17, TOP48]],
          ['3c0', [21, 22, 23, 24, 25, 26, 27, 28]],
        ),
      },
    },
    lines: ['0 1 2 3 4 5 6 11 12 13 14 15 16 17 281474976710655 21 22 23 24 25 26 27 28'],
  },
  core('intel_wtm', 0x2c, FIXED_FIRST, FIXED_FIRST_LINE),
];
