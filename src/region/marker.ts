/**
 * The thread's access to the region page. Marking is the hot path: one reading of the clock and about ten stores into
 * mapped memory; for an outermost region also two atomic additions. Nothing is allocated. The clock is half the cost.
 */
import {
  E,
  EVENT_BYTES,
  EVENT_EPOCH,
  EVENT_REGION_ENTRY,
  EVENT_REGION_EXIT,
  F,
  H,
  HINTS,
  KIND_ASYNC,
  KIND_SYNC,
  MOST_DEPTH,
  N,
  NODE_BYTES,
  R,
  REGION_BYTES,
  slotRooms,
  T,
  THREAD_BYTES,
} from '../model/region-layout.ts';
import { type NamedSlot, Names } from './names.ts';
import type { PageMemory } from './page-file.ts';
import { goInside, goOutside } from './thread-slot.ts';

const readClock = process.hrtime.bigint;
/** The latest reading: nanoseconds since the page's zero, and its two halves. No BigInt is created: call, subtraction and store are compiled into one piece. */
const sinceZero = new BigInt64Array(1);
const sinceWords = new Uint32Array(sinceZero.buffer);

/** Cells as word indices within their slot; a double takes two words. */
const TID = T.tid >> 2;
const DEPTH = T.depth >> 2;
const HASH = T.hash >> 2;
const HINT = T.hint >> 2;
const NODE = T.node >> 2;
const WORK_TOTAL = T.workTotal >> 2;
const WORK_DONE = T.workDone >> 2;
const NODES_USED = T.nodesUsed >> 2;
const RING_HEAD = T.ringHead >> 2;
const UNPLACED = T.unplacedDepth >> 2;
const ENTERED = T.entered >> 3;
const UNITED = T.united >> 3;
const WORK_ROUND = T.workRound >> 2;
const ROUND = H.round >> 2;
const FLAGS = H.flags >> 2;
const NODE_WORDS = NODE_BYTES >> 2;
const NODE_DOUBLES = NODE_BYTES >> 3;
const N_REGION = N.region >> 2;
const N_PARENT = N.parent >> 2;
const N_INSIDE = N.inside >> 2;
const N_COUNT = N.count >> 3;
const N_TOTAL = N.total >> 3;
const N_ENTERED = N.entered >> 3;
const N_UNITED = N.united >> 3;
const REGION_WORDS = REGION_BYTES >> 2;
const IGNORE = HINTS.indexOf('ignore');

/** A region in one thread; remembers where it was last entered. */
export interface MarkedPlace extends NamedSlot {
  lastParent: number;
  lastNode: number;
  /** Node of its asynchronous spans; 0: none yet. */
  asyncNode: number;
}

export class Marker {
  readonly page: PageMemory;
  readonly slot: number;
  readonly names: Names;
  /** Called once, at the first exit that was out of order. */
  onMisorder: (message: string) => void = () => {};
  private readonly u32: Uint32Array;
  private readonly f64: Float64Array;
  /** Index of the slot's first word, and of its first double. */
  private readonly words: number;
  private readonly doubles: number;
  /** The same of its nodes. */
  private readonly nodeWords: number;
  private readonly nodeDoubles: number;
  private readonly nodeCapacity: number;
  /** First words of all regions' cells. */
  private readonly regionHints: number;
  private readonly regionInside: number;
  private readonly ringAt: number;
  private readonly ringMask: number;
  private readonly zero: bigint;
  private warned = false;

  constructor(page: PageMemory, slot: number) {
    const { u32, f64 } = page;
    this.page = page;
    this.slot = slot;
    this.names = new Names(page);
    this.u32 = u32;
    this.f64 = f64;
    const at = u32[H.threads >> 2] + slot * THREAD_BYTES;
    this.words = at >> 2;
    this.doubles = at >> 3;
    const { nodes, nodeCapacity, ring, ringCapacity } = slotRooms(u32, slot);
    this.nodeWords = nodes >> 2;
    this.nodeDoubles = nodes >> 3;
    this.nodeCapacity = nodeCapacity;
    this.regionHints = (u32[H.regions >> 2] + R.hint) >> 2;
    this.regionInside = (u32[H.regions >> 2] + R.inside) >> 2;
    this.ringAt = ring;
    this.ringMask = ringCapacity - 1;
    this.zero = page.startNs;
  }

  /** Nanoseconds since the page's time zero. The clock is CLOCK_MONOTONIC. */
  now(): number {
    sinceZero[0] = BigInt.asIntN(64, readClock() - this.zero);
    return sinceWords[1] * 0x1_0000_0000 + sinceWords[0];
  }

  /** The application's time has ended: later marks do not belong to it. */
  private get isOver(): boolean {
    return (this.u32[FLAGS] & F.stopped) !== 0;
  }

  enter(place: MarkedPlace): void {
    if (this.isOver) return;
    const { u32, words } = this;
    const now = this.now();
    const parent = u32[words + NODE];
    const depth = u32[words + DEPTH];
    if (depth === MOST_DEPTH || u32[words + UNPLACED] > 0) {
      this.enterUnplaced();
      return;
    }
    const node = place.lastParent === parent ? place.lastNode : this.nodeOf(place, parent);
    if (node === 0) {
      this.enterUnplaced();
      return;
    }
    u32[words]++;
    u32[this.nodeWords + node * NODE_WORDS + N_INSIDE] = 1;
    this.f64[this.nodeDoubles + node * NODE_DOUBLES + N_ENTERED] = now;
    u32[words + NODE] = node;
    u32[words + DEPTH] = depth + 1;
    u32[words + HINT] = place.hintCode;
    if (depth === 0) {
      u32[words + HASH] = place.hash;
      this.f64[this.doubles + ENTERED] = now;
      u32[words + WORK_TOTAL] = 0;
      u32[words + WORK_DONE] = 0;
      const inside = this.regionInside + place.index * REGION_WORDS;
      const united = this.nodeDoubles + node * NODE_DOUBLES + N_UNITED;
      goInside(this.page, inside, united, this.doubles + UNITED, sinceZero);
    }
    u32[words]++;
    if (this.ringMask >= 0) this.event(EVENT_REGION_ENTRY, place.hash, depth + 1, now);
  }

  exit(place: MarkedPlace): void {
    if (this.isOver) return;
    const { u32, words } = this;
    const now = this.now();
    if (u32[words + UNPLACED] > 0) {
      u32[words + UNPLACED]--;
      return;
    }
    const node = u32[words + NODE];
    if (node === 0 || u32[this.nodeWords + node * NODE_WORDS + N_REGION] !== place.index) {
      this.exitMisordered(place, now);
      return;
    }
    this.leave(place.hash, now);
  }

  /** Leaves the innermost region. */
  private leave(hash: number, now: number): void {
    const { u32, f64, words } = this;
    const node = u32[words + NODE];
    const nodeDoubles = this.nodeDoubles + node * NODE_DOUBLES;
    const depth = u32[words + DEPTH];
    u32[words]++;
    f64[nodeDoubles + N_TOTAL] += now - f64[nodeDoubles + N_ENTERED];
    f64[nodeDoubles + N_COUNT]++;
    this.stepOut(node, depth);
    u32[words]++;
    if (this.ringMask >= 0) this.event(EVENT_REGION_EXIT, hash, depth, now);
  }

  /** At the time `sinceZero`. */
  private stepOut(node: number, depth: number): void {
    const { u32, words } = this;
    const nodeWords = this.nodeWords + node * NODE_WORDS;
    const parent = u32[nodeWords + N_PARENT];
    u32[nodeWords + N_INSIDE] = 0;
    u32[words + NODE] = parent;
    u32[words + DEPTH] = depth - 1;
    if (parent === 0) {
      u32[words + HASH] = 0;
      u32[words + HINT] = 0;
      const inside = this.regionInside + u32[nodeWords + N_REGION] * REGION_WORDS;
      const united = this.nodeDoubles + node * NODE_DOUBLES + N_UNITED;
      goOutside(this.page, inside, united, this.doubles + UNITED, sinceZero);
    } else {
      const above = u32[this.nodeWords + parent * NODE_WORDS + N_REGION];
      u32[words + HINT] = u32[this.regionHints + above * REGION_WORDS];
    }
  }

  /** Node of `place` below `parent`, created if missing; 0 if the tree is full. */
  private nodeOf(place: MarkedPlace, parent: number): number {
    const node = this.child(place.index, parent, KIND_SYNC);
    place.lastParent = parent;
    place.lastNode = node;
    return node;
  }

  private child(region: number, parent: number, kind: number): number {
    const { u32, words } = this;
    const at = (node: number, cell: number) => this.nodeWords + node * NODE_WORDS + (cell >> 2);
    let node = u32[at(parent, N.firstChild)];
    for (; node !== 0; node = u32[at(node, N.nextSibling)]) {
      if (u32[at(node, N.region)] === region && u32[at(node, N.kind)] === kind) return node;
    }
    node = u32[words + NODES_USED];
    // The last node is reserved for (overflow).
    if (node >= this.nodeCapacity - (region === 0 ? 0 : 1)) return 0;
    u32[words]++;
    u32[at(node, N.region)] = region;
    u32[at(node, N.parent)] = parent;
    u32[at(node, N.kind)] = kind;
    u32[at(node, N.nextSibling)] = u32[at(parent, N.firstChild)];
    u32[at(parent, N.firstChild)] = node;
    u32[words + NODES_USED] = node + 1;
    u32[words]++;
    return node;
  }

  private enterUnplaced(): void {
    this.u32[this.words + UNPLACED]++;
    Atomics.add(this.u32, H.unplaced >> 2, 1);
  }

  /** Leaves all regions down to `place` if the thread is in it; otherwise none. */
  private exitMisordered(place: MarkedPlace, now: number): void {
    const { u32, words } = this;
    Atomics.add(u32, H.misordered >> 2, 1);
    const regionOf = (node: number) => u32[this.nodeWords + node * NODE_WORDS + N_REGION];
    let found = u32[words + NODE];
    while (found !== 0 && regionOf(found) !== place.index) {
      found = u32[this.nodeWords + found * NODE_WORDS + N_PARENT];
    }
    const inside = u32[words + NODE] === 0 ? null : this.names.nameOf(regionOf(u32[words + NODE]));
    if (!this.warned) {
      this.warned = true;
      const what = `region '${this.names.nameOf(place.index)}' was left`;
      this.onMisorder(
        found === 0
          ? `${what} without having been entered; ignored; later cases are only counted`
          : `${what} while inside '${inside}', which is left too; later cases are only counted`,
      );
    }
    if (found === 0) return;
    const stop = u32[this.nodeWords + found * NODE_WORDS + N_PARENT];
    while (u32[words + NODE] !== stop) {
      const region = regionOf(u32[words + NODE]);
      this.leave(this.names.hashOf(region), now);
    }
  }

  /** Takes back the entry of `place`, the innermost region, because its work turned out to be asynchronous. Returns when it began. */
  forgetEntry(place: MarkedPlace): number | null {
    if (this.isOver) return null;
    const { u32, words } = this;
    const node = u32[words + NODE];
    const nodeWords = this.nodeWords + node * NODE_WORDS;
    if (u32[words + UNPLACED] > 0 || node === 0 || u32[nodeWords + N_REGION] !== place.index) {
      this.exit(place);
      return null;
    }
    const depth = u32[words + DEPTH];
    const began = this.f64[this.nodeDoubles + node * NODE_DOUBLES + N_ENTERED];
    u32[words]++;
    // Equivalent to an exit at the moment of the entry.
    sinceZero[0] = BigInt(began);
    this.stepOut(node, depth);
    u32[words]++;
    if (this.ringMask >= 0) this.event(EVENT_REGION_EXIT, place.hash, depth, this.now());
    return began;
  }

  beginAsync(place: MarkedPlace): void {
    if (this.isOver) return;
    if (place.asyncNode === 0) place.asyncNode = this.child(place.index, 0, KIND_ASYNC);
    if (place.asyncNode === 0) Atomics.add(this.u32, H.unplaced >> 2, 1);
    else this.u32[this.nodeWords + place.asyncNode * NODE_WORDS + N_INSIDE]++;
  }

  /** @param began ns, from now() */
  endAsync(place: MarkedPlace, began: number): void {
    if (place.asyncNode === 0 || this.isOver) return;
    const { u32, f64, words } = this;
    const doubles = this.nodeDoubles + place.asyncNode * NODE_DOUBLES;
    u32[words]++;
    f64[doubles + N_TOTAL] += this.now() - began;
    f64[doubles + N_COUNT]++;
    u32[this.nodeWords + place.asyncNode * NODE_WORDS + N_INSIDE]--;
    u32[words]++;
  }

  /** Not counted in a region with the hint IGNORE. */
  epoch(): void {
    if (this.isOver) return;
    const { u32 } = this;
    for (let node = u32[this.words + NODE]; node !== 0; ) {
      const at = this.nodeWords + node * NODE_WORDS;
      if (u32[this.regionHints + u32[at + N_REGION] * REGION_WORDS] === IGNORE) return;
      node = u32[at + N_PARENT];
    }
    const now = this.now();
    const before = Atomics.add(this.u32, H.epochs >> 2, 1);
    if (before === 0) this.f64[H.firstEpoch >> 3] = now;
    this.f64[H.lastEpoch >> 3] = now;
    if (this.ringMask >= 0) this.event(EVENT_EPOCH, before + 1, 0, now);
  }

  work(total: number): void {
    this.u32[this.words + WORK_TOTAL] = total;
    this.u32[this.words + WORK_DONE] = 0;
    this.u32[this.words + WORK_ROUND] = this.u32[ROUND];
  }

  workDone(): void {
    // Work announced for regions that all threads have left is discarded.
    if (this.u32[this.words + WORK_ROUND] !== this.u32[ROUND]) this.work(0);
    this.u32[this.words + WORK_DONE]++;
  }

  /** The application ends now; if MPI_Init began its time, MPI_Finalize ends it. */
  stop(): void {
    const { u32, f64 } = this.page;
    if (this.isOver || (u32[FLAGS] & F.mpi) !== 0) return;
    f64[H.stopped >> 3] = this.now();
    Atomics.or(u32, FLAGS, F.stopped);
  }

  private event(code: number, value: number, depth: number, time: number): void {
    const { u32 } = this;
    const head = u32[this.words + RING_HEAD];
    const at = this.ringAt + (head & this.ringMask) * EVENT_BYTES;
    this.f64[(at + E.time) >> 3] = time;
    u32[(at + E.code) >> 2] = code;
    u32[(at + E.value) >> 2] = value;
    u32[(at + E.depth) >> 2] = depth;
    u32[(at + E.tid) >> 2] = u32[this.words + TID];
    u32[this.words + RING_HEAD] = head + 1;
  }
}
