/** Memory whose address does not change, so that a library may read and write it between two calls. */
import { createRequire } from 'node:module';

export interface Pinned {
  /** A pointer has at most 47 bits here, so a double holds it, and koffi takes numbers twice as fast as BigInts. */
  readonly address: number;
  readonly memory: ArrayBuffer;
}

/** Zeroed memory. It is never freed: a run's buffers live as long as its process. */
export function pinned(bytes: number): Pinned {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const address = koffi.address(koffi.alloc('uint64_t', Math.ceil(bytes / 8)));
  const memory = koffi.view(address, bytes);
  new Uint8Array(memory).fill(0);
  return { address: Number(address), memory };
}
