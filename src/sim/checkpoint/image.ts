/**
 * One PE at a checkpoint: its LPs and pending events. Plain data: it crosses threads.
 *
 * The checkpoint at time T is the cut between the events before T, all committed, and those at or past it, of which no
 * PE handles any until all have made their images.
 *
 *     event   receive time · send time · tie-breaker (ties.ts) · destination LP, source LP · path, list length n
 *             · n doubles: priority and the tie-breakers of zero-offset ancestors · payload
 */
import { OutOfEventMemoryError } from '../in-order.ts';
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import { indexOfLp, peOfLp } from '../placement.ts';

const { ALIGN, BITS, CANCELLED, DEST, EXTRA, PATH, PAYLOAD, PENDING } = layout;
const { RECV, SEND, SOURCE, STATE, STATE_MASK, TIE } = layout;

/** LPs and events of one PE. */
export interface Memories {
  /** The LPs' blocks (lp.ts), one after another. */
  readonly blocks: Float64Array;
  /** Second values of Box-Muller pairs; empty where no LP has drawn one. */
  readonly spares: Float64Array;
  /** Pending events, one after another. */
  readonly events: Float64Array;
  /** Global ids of the LPs. */
  readonly ids: Int32Array;
  /** The longest causal chain that ends on each. */
  readonly paths: Int32Array;
}

export interface PeImage extends Memories {
  readonly pe: number;
  /** Virtual time of the checkpoint. */
  readonly time: number;
  /** Number of pending events. */
  readonly count: number;
  /** As in a PE's result. */
  readonly counts: readonly number[];
  readonly eventDigest: readonly [number, number];
  readonly leastOffset: number;
  readonly leastDelay: number;
  /** When a committed event stops the run, and when the model's hook is called next; Infinity for never. */
  readonly stopTime: number;
  readonly hookTime: number;
  /** A committed event has requested a hook that has not been called. */
  readonly asksHook: boolean;
  /** Lines that its LPs and hooks had printed. */
  readonly lines: number;
}

/** Its memory, to be transferred to another thread. */
export const memoriesOf = ({ blocks, spares, events, ids, paths }: PeImage): ArrayBuffer[] =>
  [blocks, spares, events, ids, paths].map(({ buffer }) => buffer as ArrayBuffer);

/** Doubles of an event beside its list and its payload. */
const HEAD = 5;

/** A list of doubles that grows. */
class Doubles {
  f64 = new Float64Array(1024);
  i32 = new Int32Array(this.f64.buffer);
  length = 0;

  /** Room for `count` more; returns where. */
  add(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.f64.length) {
      const more = new Float64Array(Math.max(this.length, 2 * this.f64.length));
      more.set(this.f64);
      this.f64 = more;
      this.i32 = new Int32Array(more.buffer);
    }
    return at;
  }
}

function pendingOf({ pool, queue, signatures, ids, timers }: Pe) {
  const { F, I, payload } = pool;
  const all = new Doubles();
  let count = 0;
  queue.sweep((h) => {
    const i = h << 1;
    if ((I[i + STATE] & STATE_MASK) === CANCELLED) return true;
    if (timers?.isCancelled(h, I[i + DEST])) return true;
    const list = I[i + EXTRA] === 0 ? 0 : signatures.prefixLength(h) + 1;
    const at = all.add(HEAD + list + payload);
    const { f64, i32 } = all;
    f64[at] = F[h + RECV];
    f64[at + 1] = F[h + SEND];
    f64[at + 2] = F[h + TIE];
    const w = (at + 3) << 1;
    i32[w] = ids[I[i + DEST]];
    i32[w + 1] = I[i + SOURCE];
    i32[w + 2] = I[i + PATH];
    i32[w + 3] = list;
    if (list > 0) {
      f64[at + HEAD] = signatures.priority(h);
      signatures.write(h, f64, at + HEAD + 1);
    }
    // Word by word, because doubles that are NaN may lose bits of the payload.
    const to = (at + HEAD + list) << 1;
    for (let k = 0; k < 2 * payload; k++) i32[to + k] = I[i + 2 * PAYLOAD + k];
    count++;
    return true;
  });
  return { events: all.f64.slice(0, all.length), count };
}

/** The state of `pe` at virtual time `time`. `lines`: number of lines that it has printed; `asksHook`: a requested hook is still to be called. */
export function imageOf(pe: Pe, time: number, lines: number, asksHook: boolean): PeImage {
  const { memory, blockSize, ids } = pe;
  return {
    pe: pe.number,
    time,
    blocks: memory.f64.slice(ALIGN, ALIGN + ids.length * blockSize),
    spares: pe.spares?.slice() ?? new Float64Array(0),
    ...pendingOf(pe),
    ids: ids.slice(),
    paths: pe.paths.slice(),
    counts: [...pe.counts],
    eventDigest: [pe.eventDigest.lo, pe.eventDigest.hi],
    leastOffset: pe.leastOffset[0],
    leastDelay: pe.leastOffset[1],
    stopTime: pe.stopTime,
    hookTime: pe.hookTime,
    asksHook,
    lines,
  };
}

/** Takes the LPs of `pe` and their pending events from the images `from`, in place of calling `init`. */
export function restore(pe: Pe, from: Memories): void {
  const { placement, number, blockSize, memory } = pe;
  const words = new Int32Array(from.blocks.buffer, from.blocks.byteOffset, 2 * from.blocks.length);
  const size = 2 * blockSize;
  from.ids.forEach((id, k) => {
    if (peOfLp(placement, id) !== number) return;
    const index = indexOfLp(placement, id, number);
    memory.i32.set(words.subarray(k * size, (k + 1) * size), (index * blockSize + ALIGN) << 1);
    pe.paths[index] = from.paths[k];
    if (from.spares.length > 0 && !Number.isNaN(from.spares[k])) pe.setSpare(index, from.spares[k]);
  });
  restoreEvents(pe, from.events);
}

function restoreEvents(pe: Pe, events: Float64Array): void {
  const { placement, number, pool, queue, signatures } = pe;
  const { F, I, payload } = pool;
  const i32 = new Int32Array(events.buffer, events.byteOffset, 2 * events.length);
  for (let at = 0; at < events.length; ) {
    const w = (at + 3) << 1;
    const dest = i32[w];
    const list = i32[w + 3];
    if (peOfLp(placement, dest) === number) {
      const h = pool.alloc();
      if (h === 0) {
        throw new OutOfEventMemoryError(
          `the checkpoint's pending events do not fit into --max-memory=${pe.config.maxMemory}; raise it`,
        );
      }
      const i = h << 1;
      F[h + RECV] = events[at];
      F[h + SEND] = events[at + 1];
      F[h + TIE] = events[at + 2];
      I[i + DEST] = indexOfLp(placement, dest, number);
      I[i + SOURCE] = i32[w + 1];
      I[i + PATH] = i32[w + 2];
      I[i + BITS] = 0;
      I[i + EXTRA] = 0;
      I[i + STATE] = PENDING;
      const from = (at + HEAD + list) << 1;
      for (let k = 0; k < 2 * payload; k++) I[i + 2 * PAYLOAD + k] = i32[from + k];
      if (list > 0) signatures.adopt(h, events[at + HEAD], events, at + HEAD + 1, list - 1);
      queue.push(events[at], h);
    }
    at += HEAD + list + payload;
  }
}
