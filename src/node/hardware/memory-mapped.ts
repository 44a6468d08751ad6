/**
 * Registers in memory: boxes at an address, and configuration spaces of PCI functions that the kernel does not list. Each function has
 * 4096 bytes from the base address in ACPI's table MCFG. Sources: PCI Express Base Specification, 7.2.2; PCI Firmware
 * Specification, 4.1.2.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type MappedFile, mapFile, PAGE } from '../../os/mapped-file.ts';
import { DIRECT } from '../kernel-file.ts';
import { type NodeTree, needsRights, UnavailableError } from '../tree.ts';
import { type RegisterSpace, registerName, type Width } from './registers.ts';

const TABLE = 'sys/firmware/acpi/tables/MCFG';
/** The base on Knights Landing, used if the table cannot be read. */
const USUAL = 0xc0000000;
const TABLE_HEADER = 44;

/** Physical address of bus 0, device 0. */
function baseOf(tree: NodeTree): number {
  try {
    const table = readFileSync(join(tree.root, TABLE));
    return Number(table.readBigUInt64LE(TABLE_HEADER));
  } catch {
    return USUAL;
  }
}

/** Physical address of a function such as `ff/0a.0`, or of an address given in hexadecimal. */
export function addressOf(tree: NodeTree, name: string): number {
  if (!name.includes('/')) return Number.parseInt(name, 16);
  const [bus, device, fn] = name.split(/[/.]/).map((text) => Number.parseInt(text, 16));
  return baseOf(tree) + ((bus << 20) | (device << 15) | (fn << 12));
}

/** The function's bytes in a recorded tree's `dev/mem`, a file with holes. @throws UnavailableError */
export function recordedSpace(tree: NodeTree, name: string): Buffer {
  const path = join(tree.root, 'dev/mem');
  let file = -1;
  try {
    file = openSync(path, DIRECT);
    const bytes = Buffer.alloc(PAGE);
    readSync(file, bytes, 0, PAGE, addressOf(tree, name));
    return bytes;
  } catch (error) {
    throw new UnavailableError((error as Error).message);
  } finally {
    if (file >= 0) closeSync(file);
  }
}

export class MappedSpace implements RegisterSpace {
  readonly name: string;
  private readonly map: MappedFile;
  private readonly path: string;
  private readonly at: number;

  /** @throws UnavailableError */
  constructor(name: string, path: string, at: number) {
    this.name = name;
    this.path = path;
    this.at = at;
    try {
      this.map = mapFile(path, at, PAGE);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const denied = code === 'EACCES' || code === 'EPERM';
      throw new UnavailableError(denied ? needsRights(`read ${path}`) : message);
    }
  }

  read(at: number, width: Width, words: Uint32Array): void {
    const map = this.map.words;
    words[0] = map[at >> 2];
    words[1] = 0;
    if (width === 4) return;
    // Read again if the lower half rolled over between the two reads.
    let upper: number;
    do {
      upper = map[(at >> 2) + 1];
      words[0] = map[at >> 2];
      words[1] = map[(at >> 2) + 1];
    } while (words[1] !== upper);
  }

  write(at: number, width: Width, value: bigint): void {
    let map: MappedFile;
    try {
      map = mapFile(this.path, this.at, PAGE, true);
    } catch (error) {
      throw new UnavailableError(
        `${registerName(this.name, at)} cannot be written: ${(error as Error).message}`,
      );
    }
    map.words[at >> 2] = Number(value & 0xffffffffn);
    if (width === 8) map.words[(at >> 2) + 1] = Number(value >> 32n);
    map.close();
  }

  close(): void {
    this.map.close();
  }
}
