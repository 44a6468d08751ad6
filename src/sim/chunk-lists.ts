/**
 * Many unsorted lists of events, appended to in random order and read one at a time.
 *
 * Lists linked through the events' records would be read one cache miss after the other. These lists consist of chunks
 * of one cache line each, so a list can be walked without touching the records, whose misses can then overlap.
 */

import { reservedInts } from './reserved.ts';

/** Words of a chunk: a link to the previous chunk, and events. */
const CHUNK = 16;

const FREE = 0;
const TOP = 1;

interface ChunkLists {
  /** Appends event `h` to list `k`. */
  append(k: number, h: number): void;
  /** Moves list `k`, last event first, to `out`; returns how many. */
  take(k: number): number;
  /** What `take` has written. */
  readonly out: Int32Array;
  readonly memory: ArrayBufferLike;
}

/** Makes `lists` empty lists, numbered from 0, with room for `capacity` events in all. Memory that is never touched costs nothing. */
export function createChunkLists(lists: number, capacity: number): ChunkLists {
  const chunks = reservedInts((Math.ceil(capacity / (CHUNK - 1)) + lists + 2) * CHUNK);
  /** Index after a list's last event; 0 if it is empty. */
  const ends = reservedInts(lists + 32);
  const out = reservedInts(capacity + 32);
  const state = new Int32Array(32);
  state[TOP] = CHUNK;

  function append(k: number, h: number): void {
    let at = ends[k];
    if ((at & (CHUNK - 1)) === 0) at = chunkAfter(at);
    chunks[at] = h;
    ends[k] = at + 1;
  }

  function chunkAfter(end: number): number {
    let c = state[FREE];
    if (c !== 0) state[FREE] = chunks[c];
    else {
      c = state[TOP];
      state[TOP] = c + CHUNK;
    }
    chunks[c] = end;
    return c + 1;
  }

  // One loop, not two nested ones: V8 treats arrays as constants only in the outermost loop.
  function take(k: number): number {
    let n = 0;
    let at = ends[k];
    ends[k] = 0;
    while (at > 0) {
      at--;
      const h = chunks[at];
      if ((at & (CHUNK - 1)) !== 0) {
        out[n++] = h;
      } else {
        chunks[at] = state[FREE];
        state[FREE] = at;
        at = h;
      }
    }
    return n;
  }

  return { append, take, out, memory: chunks.buffer };
}
