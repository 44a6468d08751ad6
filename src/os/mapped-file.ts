/**
 * Maps part of a file, such as /dev/mem: registers that must be read 32 bits at a time, which read(2) does not promise
 * (Linux, through libc). Source: mmap(2).
 */
import { closeSync, openSync } from 'node:fs';
import { koffi } from './koffi.ts';

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
/** Offsets are multiples of a page. */
export const PAGE = 4096;

export interface MappedFile {
  /** Each element is one access of 32 bits. */
  readonly words: Uint32Array;
  close(): void;
}

/**
 * Maps `length` bytes from `at` on; both are multiples of a page.
 * @throws Error if open(2) or mmap(2) fails
 */
export function mapFile(path: string, at: number, length: number, write = false): MappedFile {
  const ffi = koffi();
  const libc = ffi.load(null);
  const mmap = libc.func('void *mmap(void *, size_t, int, int, int, int64_t)');
  const munmap = libc.func('int munmap(void *, size_t)');
  const file = openSync(path, write ? 'r+' : 'r');
  try {
    const prot = write ? PROT_READ | PROT_WRITE : PROT_READ;
    const address: unknown = mmap(null, length, prot, MAP_SHARED, file, at);
    // MAP_FAILED is -1.
    if (ffi.address(address) === 0xffffffffffffffffn) {
      throw new Error(`${path} cannot be mapped at ${at.toString(16)}h`);
    }
    return {
      words: new Uint32Array(ffi.view(address, length)),
      close: () => {
        munmap(address, length);
      },
    };
  } finally {
    closeSync(file);
  }
}
