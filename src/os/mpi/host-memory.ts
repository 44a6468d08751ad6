/**
 * Memory that the ranks of one machine share: a file without a name in /dev/shm. The rank that made it lets the others open it
 * as /proc/PID/fd/FD. Nothing is left behind, however ranks end. Linux only.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type Mapping, mapFile } from '../mmap.ts';
import { openNameless } from '../nameless.ts';
import type { MpiWorld } from './world.ts';

const FOLDER = '/dev/shm';
const CHUNK_BYTES = 1 << 20;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Makes the file; returns a negative number if that fails. Its zeros are written, because a hole might find no memory later. */
function make(bytes: number): number {
  if (process.platform !== 'linux') return -1;
  let file: number;
  try {
    file = openNameless(FOLDER);
  } catch {
    return -1;
  }
  const zeros = new Uint8Array(CHUNK_BYTES);
  try {
    for (let at = 0; at < bytes; )
      at += writeSync(file, zeros, 0, Math.min(CHUNK_BYTES, bytes - at), at);
    return file;
  } catch {
    closeSync(file);
    return -1;
  }
}

function map(path: string, bytes: number): Mapping | null {
  try {
    const file = openSync(path, 'r+');
    try {
      return mapFile(file, bytes, 'write');
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/**
 * Zeroed memory shared by `ranks`: this rank and the others of its machine. All ranks of `world` call it, each with its own
 * machine's ranks and bytes. Null on all ranks if any of them cannot have it.
 */
export function hostMemory(
  world: MpiWorld,
  ranks: readonly number[],
  bytes: number,
): Mapping | null {
  const file = world.rank === ranks[0] && bytes > 0 ? make(bytes) : -1;
  const path = file < 0 ? '' : `/proc/${process.pid}/fd/${file}`;
  const paths = world.exchange(encoder.encode(path)).map((text) => decoder.decode(text));
  const own = paths[ranks[0]];
  const mapping = bytes === 0 || own === '' ? null : map(own, bytes);
  const fine = world.exchange(Uint8Array.of(bytes === 0 || mapping !== null ? 1 : 0));
  if (file >= 0) closeSync(file);
  if (fine.every(([ok]) => ok === 1)) return mapping;
  mapping?.unmap();
  return null;
}
