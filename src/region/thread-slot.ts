/** Slots of threads on the region page: taken when a thread first marks, given back when it ends. */
import { existsSync } from 'node:fs';
import {
  H,
  N,
  NODE_BYTES,
  T,
  THREAD_BYTES,
  THREAD_ENDED,
  THREAD_FREE,
  THREAD_LIVE,
} from '../model/region-layout.ts';
import type { Page } from './page-file.ts';

const slotAt = ({ u32 }: Page, slot: number) => u32[H.threads >> 2] + slot * THREAD_BYTES;

/** Bytes from the file's start at which the nodes of a slot begin. */
export function nodesAt({ u32 }: Page, slot: number): number {
  return u32[H.nodes >> 2] + slot * u32[H.nodeCapacity >> 2] * NODE_BYTES;
}

/** A new thread begins in a slot that another left, perhaps in the middle of a region: what that one counted stays. */
function leaveAll(page: Page, slot: number): void {
  const { u32 } = page;
  const at = slotAt(page, slot);
  const nodes = nodesAt(page, slot);
  u32[(at + T.seq) >> 2] |= 1;
  for (let n = 0; n < u32[(at + T.nodesUsed) >> 2]; n++) {
    u32[(nodes + n * NODE_BYTES + N.inside) >> 2] = 0;
  }
  for (const cell of [T.depth, T.hash, T.hint, T.node, T.workTotal, T.workDone, T.unplacedDepth]) {
    u32[(at + cell) >> 2] = 0;
  }
  u32[(at + T.seq) >> 2]++;
}

function begin(page: Page, slot: number, tid: number, cpu: number): void {
  const { u32 } = page;
  const at = slotAt(page, slot);
  u32[(at + T.tid) >> 2] = tid;
  u32[(at + T.cpu) >> 2] = cpu;
  if (u32[(at + T.nodesUsed) >> 2] === 0) u32[(at + T.nodesUsed) >> 2] = 1;
  leaveAll(page, slot);
}

const gone = (tid: number) =>
  existsSync('/proc/self/task') && !existsSync(`/proc/self/task/${tid}`);

/** Slot of the calling thread; null, and counted, where there is none left. @param cpu -1 where it may run on several */
export function claimSlot(page: Page, tid: number, cpu: number): number | null {
  const { u32 } = page;
  const capacity = u32[H.threadCapacity >> 2];
  const state = (slot: number) => (slotAt(page, slot) + T.state) >> 2;
  const owner = (slot: number) => u32[(slotAt(page, slot) + T.tid) >> 2];
  const used = Math.min(Atomics.load(u32, H.threadsUsed >> 2), capacity);
  for (let slot = 0; slot < used; slot++) {
    // This thread marks through another copy of the library too: they share.
    if (u32[state(slot)] === THREAD_LIVE && owner(slot) === tid) return slot;
  }
  if (used < capacity) {
    const slot = Atomics.add(u32, H.threadsUsed >> 2, 1);
    if (slot < capacity) {
      begin(page, slot, tid, cpu);
      Atomics.store(u32, state(slot), THREAD_LIVE);
      return slot;
    }
  }
  for (let slot = 0; slot < capacity; slot++) {
    const was = Atomics.load(u32, state(slot));
    const last = owner(slot);
    // A worker that was terminated could not say so.
    if (was === THREAD_FREE || (was === THREAD_LIVE && !gone(last))) continue;
    // Set aside as free while it changes hands, so that only one thread gets it.
    if (Atomics.compareExchange(u32, state(slot), was, THREAD_FREE) !== was) continue;
    if (was === THREAD_LIVE && owner(slot) !== last) {
      // Its owner ended and another thread took it over since: that one keeps it.
      Atomics.compareExchange(u32, state(slot), THREAD_FREE, THREAD_LIVE);
      continue;
    }
    begin(page, slot, tid, cpu);
    Atomics.store(u32, state(slot), THREAD_LIVE);
    return slot;
  }
  Atomics.add(u32, H.threadsRefused >> 2, 1);
  return null;
}

/** The thread ends. */
export function releaseSlot(page: Page, slot: number): void {
  Atomics.store(page.u32, (slotAt(page, slot) + T.state) >> 2, THREAD_ENDED);
}
