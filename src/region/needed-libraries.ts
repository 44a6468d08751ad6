/** The libraries with which an executable is linked, from its ELF header. Source: System V ABI, "Dynamic Linking"; elf(5). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export interface Linked {
  /** Names of libraries, such as libgomp.so.1. */
  readonly needed: readonly string[];
  /** A statically linked program: it has no loader, so that no library can be preloaded. */
  readonly isStatic: boolean;
}

const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;
const NEEDED = 1n;
const STRINGS = 5n;
const FLAGS_1 = 0x6ffffffbn;
/** In FLAGS_1: a position-independent program, which otherwise looks like a library. */
const PIE = 0x08000000n;
/** In the ELF header: a program at fixed addresses; a position-independent one, or a library. */
const EXECUTABLE = 2;
const SHARED = 3;
/** Maximum bytes that are read of a program's table of libraries, and of its names. */
const MOST_BYTES = 1 << 20;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly bytes: number;
}

function bytesAt(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, Math.min(length, MOST_BYTES)));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
}

function segmentsOf(fd: number, head: Buffer): Segment[] {
  const [size, count] = [head.readUInt16LE(54), head.readUInt16LE(56)];
  const table = bytesAt(fd, Number(head.readBigUInt64LE(32)), size * count);
  return Array.from({ length: size < 56 ? 0 : Math.floor(table.length / size) }, (_, k) => ({
    type: table.readUInt32LE(k * size),
    offset: Number(table.readBigUInt64LE(k * size + 8)),
    address: table.readBigUInt64LE(k * size + 16),
    bytes: Number(table.readBigUInt64LE(k * size + 32)),
  }));
}

type Entry = readonly [tag: bigint, value: bigint];

function entriesOf(fd: number, segments: readonly Segment[]): Entry[] {
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (dynamic === undefined) return [];
  const table = bytesAt(fd, dynamic.offset, dynamic.bytes);
  return Array.from({ length: table.length >> 4 }, (_, k) => [
    table.readBigUInt64LE(16 * k),
    table.readBigUInt64LE(16 * k + 8),
  ]);
}

/** Whether it is a program, rather than a library or an object file. */
function isProgram(kind: number, entries: readonly Entry[]): boolean {
  const anywhere = entries.some(([tag, flags]) => tag === FLAGS_1 && (flags & PIE) !== 0n);
  return kind === EXECUTABLE || (kind === SHARED && anywhere);
}

function neededBy(fd: number, segments: readonly Segment[], entries: readonly Entry[]): string[] {
  const strings = entries.find(([tag]) => tag === STRINGS)?.[1];
  const home = segments.find(
    ({ type, address, bytes }) =>
      type === LOAD && strings !== undefined && strings - address < bytes && strings >= address,
  );
  if (strings === undefined || home === undefined) return [];
  const names = bytesAt(fd, home.offset + Number(strings - home.address), MOST_BYTES);
  return entries
    .filter(([tag]) => tag === NEEDED)
    .map(([, at]) => {
      const from = Number(at);
      return names.toString('latin1', from, Math.max(from, names.indexOf(0, from)));
    });
}

/** Null if it is not a readable 64-bit little-endian ELF file. */
export function linkedWith(path: string): Linked | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    const head = fstatSync(fd).isFile() ? bytesAt(fd, 0, 64) : Buffer.alloc(0);
    if (head.length < 64 || head.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return null;
    const segments = segmentsOf(fd, head);
    const entries = entriesOf(fd, segments);
    const hasLoader = segments.some(({ type }) => type === INTERPRETER);
    const isStatic = !hasLoader && isProgram(head.readUInt16LE(16), entries);
    return { needed: neededBy(fd, segments, entries), isStatic };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
