/** Maps files into memory (Linux and macOS, through libc). Null on other systems or without FFI. */
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
  /** A part of the file as a buffer of its own. */
  part(at: number, length: number): ArrayBuffer;
  /** Unmaps it. `memory` must not be used afterwards. */
  unmap(): void;
}

/**
 * Maps the first `length` bytes of an open file, shared with all who map it; the descriptor may be closed afterwards.
 * The file must not get shorter meanwhile: a process that touches a part that was cut off is killed. Source: mmap(2).
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
