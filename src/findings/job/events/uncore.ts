/** Events of uncore counters by the value of their control register. The sources are those of core counters. */
import type { EventNames } from './event-names.ts';

const of = (list: readonly (readonly [number, string])[]): EventNames =>
  new Map(list.map(([value, name]) => [BigInt(value >>> 0), name]));

const ENABLE = 1 << 22;
const INVERT_NOT = 1 << 24;
const QPI_EXTRA = 1 << 21;
const box = (event: number, umask: number) => event | (umask << 8) | ENABLE | INVERT_NOT;
const plain = (event: number, umask: number) => event | (umask << 8) | ENABLE;
const qpi = (event: number, umask: number) => event | (umask << 8) | QPI_EXTRA | ENABLE;

export const CBO: EventNames = of([
  [box(0x00, 0x00), 'CLOCK_TICKS'],
  [box(0x11, 0x01), 'RxR_OCCUPANCY'],
  [box(0x1f, 0x00), 'COUNTER0_OCCUPANCY'],
  [box(0x34, 0x03), 'LLC_LOOKUP_DATA_READ'],
  [box(0x34, 0x05), 'LLC_LOOKUP_WRITE'],
  [box(0x34, 0x11), 'LLC_LOOKUP_ANY'],
  [box(0x1e, 0x0f), 'RING_IV_USED'],
]);

export const HAU: EventNames = of([
  [box(0x01, 0x03), 'READ_REQUESTS'],
  [box(0x01, 0x0c), 'WRITE_REQUESTS'],
  [box(0x00, 0x00), 'CLOCKTICKS'],
  [box(0x1a, 0x0f), 'IMC_WRITES'],
]);

/** Sandy Bridge to Broadwell, and Skylake, whose values lack bit 24. */
export const IMC: EventNames = of([
  [box(0x04, 0x03), 'CAS_READS'],
  [box(0x04, 0x0c), 'CAS_WRITES'],
  [box(0x01, 0x00), 'ACT_COUNT'],
  [box(0x01, 0x0b), 'ACT_COUNT'],
  [box(0x01, 0x11), 'ACT_COUNT'],
  [box(0x02, 0x01), 'PRE_COUNT_MISS'],
  [box(0x02, 0x03), 'PRE_COUNT_ALL'],
  [plain(0x04, 0x03), 'CAS_READS'],
  [plain(0x04, 0x0c), 'CAS_WRITES'],
  [plain(0x01, 0x0b), 'ACT_COUNT'],
  [plain(0x02, 0x01), 'PRE_COUNT_MISS'],
  // Ice Lake; Sapphire Rapids; and the second half of Granite Rapids' channels.
  [plain(0x04, 0x0f), 'CAS_READS'],
  [plain(0x04, 0x30), 'CAS_WRITES'],
  [plain(0x05, 0xcf), 'CAS_READS'],
  [plain(0x05, 0xf0), 'CAS_WRITES'],
  [plain(0x06, 0xcf), 'CAS_READS'],
  [plain(0x06, 0xf0), 'CAS_WRITES'],
]);

/** Zen 4 and 5. */
export const AMD_UMC: EventNames = of([
  [0x8000010a, 'CAS_READS'],
  [0x8000020a, 'CAS_WRITES'],
  [0x80000005, 'ACT_COUNT'],
  [0x80000000, 'CYCLES'],
]);

export const PCU: EventNames = of([
  [box(0x04, 0), 'MAX_TEMP_CYCLES'],
  [box(0x05, 0), 'MAX_POWER_CYCLES'],
  [box(0x06, 0), 'MAX_OS_CYCLES'],
  [box(0x07, 0), 'MAX_CURRENT_CYCLES'],
  [box(0x81, 0), 'MIN_IO_CYCLES'],
  [box(0x82, 0), 'MIN_SNOOP_CYCLES'],
]);

export const QPI: EventNames = of([
  [qpi(0x00, 0x01), 'TxL_FLITS_G1_SNP'],
  [qpi(0x00, 0x04), 'TxL_FLITS_G1_HOM'],
  [qpi(0x02, 0x08), 'G1_DRS_DATA'],
  [qpi(0x03, 0x04), 'G2_NCB_DATA'],
]);

export const R2PCI: EventNames = of([
  [box(0x24, 0x04), 'TRANSMITS'],
  [box(0x01, 0x00), 'CLOCKTICKS'],
  [box(0x07, 0x0f), 'ADDRESS_USED'],
  [box(0x08, 0x0f), 'ACKNOWLEDGED_USED'],
  [box(0x09, 0x0f), 'DATA_USED'],
]);

export const CHA: EventNames = of([
  [0x40073d, 'SF_EVICTIONS_MES'],
  [0x403334, 'LLC_LOOKUP_DATA_READ_LOCAL'],
  [0x400757, 'BYPASS_CHA_IMC_ALL'],
  [0x400534, 'LLC_LOOKUP_WRITE'],
]);

export const NHM_UNCORE: EventNames = of([
  [plain(0x08, 0x01), 'L3_HITS_READ'],
  [plain(0x08, 0x02), 'L3_HITS_WRITE'],
  [plain(0x08, 0x04), 'L3_HITS_PROBE'],
  [plain(0x09, 0x01), 'L3_MISS_READ'],
  [plain(0x09, 0x02), 'L3_MISS_WRITE'],
  [plain(0x09, 0x04), 'L3_MISS_PROBE'],
  [plain(0x0a, 0x0f), 'L3_LINES_IN_ANY'],
  [plain(0x0b, 0x1f), 'L3_LINES_OUT_ANY'],
]);

export const KNL_EDC_UCLK: EventNames = of([
  [plain(0x02, 0x01), 'EDC_HIT_CLEAN'],
  [plain(0x02, 0x02), 'EDC_HIT_DIRTY'],
  [plain(0x02, 0x04), 'EDC_MISS_CLEAN'],
  [plain(0x02, 0x08), 'EDC_MISS_DIRTY'],
]);
export const KNL_EDC_ECLK: EventNames = of([
  [plain(0x01, 0x01), 'RPQ_INSERTS'],
  [plain(0x02, 0x01), 'WPQ_INSERTS'],
  [plain(0x00, 0x00), 'ECLK_CYCLES'],
]);
export const KNL_MC_UCLK: EventNames = of([[plain(0x00, 0x00), 'UCLK_CYCLES']]);
export const KNL_MC_DCLK: EventNames = of([
  [plain(0x03, 0x01), 'CAS_READS'],
  [plain(0x03, 0x02), 'CAS_WRITES'],
  [plain(0x00, 0x00), 'DCLK_CYCLES'],
]);

/** DRAM channels of AMD's data fabric: the values as written (0x4338…), and as some processors read them back (0x4038…). */
export const AMD_DF: EventNames = of(
  [0x3807, 0x3847, 0x3887, 0x38c7, 0x3907, 0x3947, 0x3987, 0x39c7].flatMap((code, channel) =>
    [0x430000, 0x400000].map((high) => [high | code, `MBW_CHANNEL_${channel}`] as const),
  ),
);
