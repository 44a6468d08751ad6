/**
 * What an Intel server from Sapphire Rapids on tells about its own counters. In each package a PCI function has a capability (DVSEC, 23h)
 * with the base address of a table in memory. A row of the table has a unit's kind, its number and the address of its control. Never run
 * on hardware. Source: Linux, arch/x86/events/intel/uncore_discovery.c and .h.
 */
import { UnavailableError } from '../tree.ts';
import type { Hardware } from './hardware.ts';
import { pageOf } from './intel-memory-box.ts';
import { INTEL, type PciFunction } from './pci.ts';
import { join64 } from './registers.ts';

/** The id that functions with a table usually have. */
const TABLE_FUNCTION = 0x09a7;
const [FIRST_CAPABILITY, DVSEC, COUNTERS] = [0x100, 0x23, 1];
const BASE_ADDRESSES = 0x10;
const IN_MEMORY = 1;
const ALL_ONES = 2n ** 64n - 1n;

interface DiscoveredUnit {
  readonly bus: string;
  readonly id: number;
  /** Address of the unit's control register. */
  readonly at: number;
}

type Read = (at: number, width: 4 | 8) => bigint;

/** Calls `work` with a function that reads these registers. @throws UnavailableError */
function reading<T>(hardware: Hardware, name: string, work: (read: Read) => T): T {
  const words = new Uint32Array(2);
  const space = hardware.space(name);
  try {
    return work((at, width) => {
      space.read(at, width, words);
      return join64(words);
    });
  } finally {
    space.close();
  }
}

/** Address of the table that a function names; null if it names none. @throws UnavailableError */
function tableOf(hardware: Hardware, { name }: PciFunction): number | null {
  return reading(hardware, `pci ${name}`, (read) => {
    const word = (at: number) => Number(read(at, 4));
    const seen = new Set<number>();
    // A chain of capabilities: bits 0 to 15 are the id, bits 20 and up the address of the next one.
    for (let at = FIRST_CAPABILITY; at >= FIRST_CAPABILITY && !seen.has(at); ) {
      seen.add(at);
      const head = word(at);
      if ((head & 0xffff) === DVSEC && (word(at + 8) & 0xffff) === COUNTERS) {
        const address = BASE_ADDRESSES + 4 * (word(at + 12) & 7);
        const low = word(address);
        // Bits 1 and 2: a 64-bit address.
        const high = (low & 6) === 4 ? word(address + 4) : 0;
        return high * 2 ** 32 + (low - (low & 0xf));
      }
      at = (head >>> 20) & ~3;
    }
    return null;
  });
}

/** Rows of a table: three 64-bit numbers each. @throws UnavailableError */
function rowsOf(hardware: Hardware, table: number): bigint[][] {
  const row = (at: number): bigint[] =>
    [0, 8, 16].map((k) => {
      const { space, from } = pageOf(at + k);
      return reading(hardware, space, (read) => read(from, 8));
    });
  const [head] = row(table);
  if (head === 0n || head === ALL_ONES) return [];
  const stride = Number((head >> 8n) & 0xffn) * 8;
  const units = Number((head >> 16n) & 0x3ffn);
  return Array.from({ length: units }, (_, k) => row(table + (k + 1) * stride));
}

/** Units of a kind whose registers are in memory, of all packages. @throws UnavailableError if no function has a table */
export function discovered(hardware: Hardware, kind: number): DiscoveredUnit[] {
  const own = hardware.functions.filter(({ vendor }) => vendor === INTEL);
  const usual = own.filter(({ device }) => device === TABLE_FUNCTION);
  const tables = (usual.length > 0 ? usual : own).flatMap((one) => {
    const table = tableOf(hardware, one);
    return table === null ? [] : [{ bus: one.name.split('/')[0], table }];
  });
  if (tables.length === 0) throw new UnavailableError('no PCI function has a table of counters');
  return tables.flatMap(({ bus, table }) =>
    rowsOf(hardware, table).flatMap(([shape, control, names]) => {
      if ([shape, control, names].some((value) => value === ALL_ONES)) return [];
      const isOne = Number(shape >> 62n) === IN_MEMORY && Number(names & 0xffffn) === kind;
      if (!isOne || control === 0n) return [];
      return [{ bus, id: Number((names >> 16n) & 0xffffn), at: Number(control) }];
    }),
  );
}
