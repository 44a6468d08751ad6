/** Slots of threads on the region page: taken when a thread first marks, given back when it ends. */
import { existsSync } from 'node:fs';
import {
  H,
  N,
  NODE_BYTES,
  R,
  REGION_BYTES,
  slotRooms,
  T,
  THREAD_BYTES,
  THREAD_ENDED,
  THREAD_FREE,
  THREAD_LIVE,
} from '../model/region-layout.ts';
import type { PageMemory } from './page-file.ts';

const INSIDE = H.inside >> 2;
const ROUND = H.round >> 2;

type Counted = Pick<PageMemory, 'u32' | 'i64'>;

const slotAt = ({ u32 }: PageMemory, slot: number) => u32[H.threads >> 2] + slot * THREAD_BYTES;

/**
 * The first thread that enters begins the time in which any is inside, the last one to leave ends it.
 * @param page its words, and its counts of 64 bits
 * @param region word of the region's count of threads
 * @param node count of the node's part of that time; `slot`: of the thread's part of the time in any region
 * @param at nanoseconds since the page's zero, the only element. (A BigInt that is read where it is added is never made.)
 */
export function goInside(
  { u32, i64 }: Counted,
  region: number,
  node: number,
  slot: number,
  at: BigInt64Array,
): void {
  if (Atomics.add(u32, region, 1) === 0) i64[node] = BigInt.asIntN(64, i64[node] - at[0]);
  if (Atomics.add(u32, INSIDE, 1) === 0) i64[slot] = BigInt.asIntN(64, i64[slot] - at[0]);
}

export function goOutside(
  { u32, i64 }: Counted,
  region: number,
  node: number,
  slot: number,
  at: BigInt64Array,
): void {
  if (Atomics.sub(u32, region, 1) === 1) i64[node] = BigInt.asIntN(64, i64[node] + at[0]);
  if (Atomics.sub(u32, INSIDE, 1) !== 1) return;
  i64[slot] = BigInt.asIntN(64, i64[slot] + at[0]);
  u32[ROUND]++;
}

/** A thread that is in regions goes, or is gone: its visits last until now, and are not completed. */
function endVisits(page: PageMemory, slot: number): void {
  const { u32, f64 } = page;
  const at = slotAt(page, slot);
  const base = slotRooms(u32, slot).nodes;
  const at64 = BigInt64Array.of(process.hrtime.bigint() - page.startNs);
  const now = Number(at64[0]);
  for (let n = u32[(at + T.node) >> 2]; n !== 0; ) {
    const node = base + n * NODE_BYTES;
    f64[(node + N.total) >> 3] += now - f64[(node + N.entered) >> 3];
    u32[(node + N.inside) >> 2] = 0;
    n = u32[(node + N.parent) >> 2];
    if (n !== 0) continue;
    const region = u32[H.regions >> 2] + u32[(node + N.region) >> 2] * REGION_BYTES;
    const [counts, own] = [(region + R.inside) >> 2, (at + T.united) >> 3];
    goOutside(page, counts, (node + N.united) >> 3, own, at64);
  }
}

const PLACE = [T.depth, T.hash, T.hint, T.node, T.unplacedDepth];

/** A new thread begins in a slot that another left, perhaps in the middle of a region: what that one counted stays. */
function leaveAll(page: PageMemory, slot: number, cells: readonly number[]): void {
  const { u32 } = page;
  const at = slotAt(page, slot);
  u32[(at + T.seq) >> 2] |= 1;
  endVisits(page, slot);
  for (const cell of cells) u32[(at + cell) >> 2] = 0;
  u32[(at + T.seq) >> 2]++;
}

function begin(page: PageMemory, slot: number, tid: number, cpu: number): void {
  const { u32 } = page;
  const at = slotAt(page, slot);
  u32[(at + T.tid) >> 2] = tid;
  u32[(at + T.cpu) >> 2] = cpu;
  if (u32[(at + T.nodesUsed) >> 2] === 0) u32[(at + T.nodesUsed) >> 2] = 1;
  leaveAll(page, slot, [...PLACE, T.workTotal, T.workDone]);
}

const gone = (tid: number) =>
  existsSync('/proc/self/task') && !existsSync(`/proc/self/task/${tid}`);

/** Slot of the calling thread; null, and counted, where there is none left. @param cpu -1 where it may run on several */
export function claimSlot(page: PageMemory, tid: number, cpu: number): number | null {
  const { u32 } = page;
  const capacity = u32[H.threadCapacity >> 2];
  const state = (slot: number) => (slotAt(page, slot) + T.state) >> 2;
  const owner = (slot: number) => u32[(slotAt(page, slot) + T.tid) >> 2];
  const used = Math.min(Atomics.load(u32, H.threadsUsed >> 2), capacity);
  for (let slot = 0; slot < used; slot++) {
    // This thread marks through another copy of the library too: they share.
    if (u32[state(slot)] === THREAD_LIVE && owner(slot) === tid) return slot;
  }
  // Set aside as free while it changes hands, so that only one thread gets it.
  const take = (slot: number, was: number) =>
    Atomics.compareExchange(u32, state(slot), was, THREAD_FREE) === was;
  const give = (slot: number) => {
    begin(page, slot, tid, cpu);
    Atomics.store(u32, state(slot), THREAD_LIVE);
    return slot;
  };
  // Slots of threads that recorded their end, then new ones, then those of threads that ended without recording it.
  for (let slot = 0; slot < used; slot++) {
    const at = slotAt(page, slot);
    // The work of a thread that ended counts until all have left the region.
    const works = u32[(at + T.workDone) >> 2] > 0 && u32[(at + T.workRound) >> 2] === u32[ROUND];
    if (u32[state(slot)] === THREAD_ENDED && !works && take(slot, THREAD_ENDED)) return give(slot);
  }
  if (used < capacity) {
    const slot = Atomics.add(u32, H.threadsUsed >> 2, 1);
    if (slot < capacity) return give(slot);
  }
  // Each look at all threads costs milliseconds: where none was gone, the next one is a second later.
  const second = 1 + Math.floor(Number(process.hrtime.bigint() - page.startNs) / 1e9);
  const noneGone = Atomics.load(u32, H.searched >> 2) === second;
  for (let slot = 0; slot < capacity && !noneGone; slot++) {
    const last = owner(slot);
    if (u32[state(slot)] !== THREAD_LIVE || !gone(last) || !take(slot, THREAD_LIVE)) continue;
    if (owner(slot) === last) return give(slot);
    // Its owner ended and another thread took it over since: that one keeps it.
    Atomics.compareExchange(u32, state(slot), THREAD_FREE, THREAD_LIVE);
  }
  Atomics.store(u32, H.searched >> 2, second);
  Atomics.add(u32, H.threadsRefused >> 2, 1);
  return null;
}

/** The thread ends. */
export function releaseSlot(page: PageMemory, slot: number): void {
  leaveAll(page, slot, PLACE);
  Atomics.store(page.u32, (slotAt(page, slot) + T.state) >> 2, THREAD_ENDED);
}
