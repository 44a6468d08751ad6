/** Files as memory, on Linux and macOS through libc. Elsewhere, or without FFI: null. */
import { koffi } from './koffi.ts';

interface LibC {
  mmap(
    address: null,
    length: number,
    protection: number,
    flags: number,
    fd: number,
    offset: number,
  ): bigint | null;
  munmap(address: bigint, length: number): number;
  view(pointer: bigint, length: number): ArrayBuffer;
}

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
/** -1 as a pointer. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

let libc: LibC | null | undefined;

function load(): LibC | null {
  if (libc !== undefined) return libc;
  libc = null;
  if (process.platform !== 'linux' && process.platform !== 'darwin') return libc;
  try {
    const ffi = koffi();
    const lib = ffi.load(null);
    libc = {
      mmap: lib.func('void *mmap(void *, size_t, int, int, int, int64_t)'),
      munmap: lib.func('int munmap(void *, size_t)'),
      view: ffi.view,
    };
  } catch {
    // No FFI on this platform.
  }
  return libc;
}

/** A file in memory. */
export interface Mapping {
  readonly memory: ArrayBuffer;
  /** A part of it by itself. */
  part(at: number, length: number): ArrayBuffer;
  /** Afterwards nothing may look at `memory`: it is not there any more. */
  unmap(): void;
}

/**
 * Maps the first `length` bytes of an open file, shared with all that map it; the descriptor may be closed then.
 * The file must stay that long: what is cut off kills those that touch it. Source: mmap(2).
 */
export function mapFile(fd: number, length: number, access: 'read' | 'write'): Mapping | null {
  const c = load();
  if (c === null) return null;
  const protection = access === 'write' ? PROT_READ | PROT_WRITE : PROT_READ;
  const address = c.mmap(null, length, protection, MAP_SHARED, fd, 0);
  if (address === null || address === MAP_FAILED) return null;
  let memory: ArrayBuffer;
  try {
    memory = c.view(address, length);
  } catch {
    return null;
  }
  return {
    memory,
    part: (at, bytes) => c.view(address + BigInt(at), bytes),
    unmap: () => c.munmap(address, length),
  };
}
