/**
 * The region page: what one process says of the regions that it is in. A memory-mapped file that the process writes
 * and the controller polls, in any language (docs/region-page.md, native/triscope_region.c). Nothing in it can overflow:
 * what finds no place is counted as such. What a process wrote stays when it dies.
 *
 * ```
 * 0        header          4096 bytes, H
 * threads  thread slots    128 bytes each, T. One writer each: the thread. Never moved
 * regions  region slots    32 bytes each, R. Written once, before `state`
 * names    bytes of names, end to end
 * nodes    of thread 0, of thread 1, …: `nodeCapacity` of 64 bytes each, N. A tree: node 0 is "in no region"
 * rings    of thread 0, of thread 1, …: `ringCapacity` of 24 bytes each, E (0: no rings)
 *          (of threads from `wideThreads` on: `narrowNodes` and `narrowRing`)
 * ```
 *
 * Little-endian. Times are doubles: nanoseconds since `startNs` of the header, a reading of CLOCK_MONOTONIC, so they are
 * exact for 104 days. Counts are doubles too (whole, exact to 2^53). Offsets below are in bytes; all are
 * multiples of the cell's size, so that a cell is never half written.
 *
 * The hash that attribution uses is that of the outermost region, the hint that of the innermost (GEOPM's rule); a
 * region's GEOPM totals are those of its nodes whose parent is node 0: visits of all threads, and the time in which any
 * thread was in it. Deeper nodes are the hierarchy.
 *
 * That time is counted without a lock: `inside` of the region counts threads. Who makes 1 of 0 subtracts the time from
 * `united` of its own node, who makes 0 of 1 adds it; the sum of `united` over the threads, modulo 2^64, is the time,
 * less the present time where `inside` is not 0. `inside` of the header and `united` of the thread slots are the same
 * for "in any region".
 */

/** 'TRGN', read as a little-endian u32. */
export const PAGE_MAGIC = 0x4e475254;
export const PAGE_VERSION = 2;
/** How page files end, in the folder that TRISCOPE_REGION_DIR names: PID-STARTTIME-STACK.page (see pageFileName). */
export const PAGE_SUFFIX = '.page';

/** Cells of the header. */
export const H = {
  /** u32 */
  magic: 0,
  /** u32 */
  version: 4,
  /** u32 */
  pid: 8,
  /** u32, atomic or: F */
  flags: 12,
  /** u64: CLOCK_MONOTONIC, ns, when the page was made: zero of its times. */
  startNs: 16,
  /** u64: wall clock at that moment, ns since 1970. */
  startWallNs: 24,
  /** u32: bytes of the file. */
  bytes: 32,
  /** u32 each: how many there is room for. */
  threadCapacity: 36,
  regionCapacity: 40,
  /** Per thread. */
  nodeCapacity: 44,
  nameCapacity: 48,
  /** Per thread; a power of two, or 0. */
  ringCapacity: 52,
  /** u32 each: where they begin, bytes from the file's start. */
  threads: 56,
  regions: 60,
  names: 64,
  nodes: 68,
  rings: 72,
  /** u32 each, atomic add: slots given out (may pass the capacity: then that many were refused). */
  threadsUsed: 76,
  regionsUsed: 80,
  namesUsed: 84,
  /** u32, atomic add: region names that found no place; their time is that of region 0. */
  regionsRefused: 88,
  /** u32, atomic add: threads that found no slot; they are not seen. */
  threadsRefused: 92,
  /** u32, atomic add: exits of a region that was not the innermost one. */
  misordered: 96,
  /** u32, atomic add: entries too deep, or into a full tree; counted nowhere else. */
  unplaced: 100,
  /** u32, atomic add: epochs marked by the process. */
  epochs: 104,
  /** u32: process that started this one. */
  parentPid: 108,
  /** f64: times of the first and of the last epoch; meaningless at epochs = 0. */
  firstEpoch: 112,
  lastEpoch: 120,
  /** f64: when the application began and ended: the first mark (MPI_Init is one), shutdown or MPI_Finalize. See F. */
  started: 128,
  stopped: 136,
  /** f64: seconds that the process says GEOPM's own work cost it (geopm_prof_overhead). */
  overhead: 144,
  /** i32: MPI rank, -1 where there is none. */
  rank: 152,
  /** u32: bytes of the process's name, and the name (its file name or script, UTF-8, at most 248). */
  processNameBytes: 156,
  processName: 256,
  /** u32: CPUs that `cpus` speaks of; 0 = not known. */
  cpuCount: 160,
  /** u32, atomic add: threads that are in any region. */
  inside: 164,
  /** u32: how often all threads have left all regions; announced work counts until then. */
  round: 168,
  /**
   * u32: 1 and the second, counted from startNs, in which all slots were last seen to be of living threads. A thread that finds no
   * slot in the same second does not look again.
   */
  searched: 172,
  /** u32: slots that have `nodeCapacity` nodes and `ringCapacity` events; 0: all. */
  wideThreads: 176,
  /** u32 each: what every other slot has. `narrowRing` is a power of two, or 0. */
  narrowNodes: 180,
  narrowRing: 184,
  /** Bit b of byte n: the process may run on CPU 8 n + b (when it attached). 1024 bytes. */
  cpus: 512,
} as const;
export const HEADER_BYTES = 4096;
export const PROCESS_NAME_MOST = 248;
export const CPUS_BYTES = 1024;

/** Flags of the header. */
export const F = {
  /** `started` is set. */
  started: 1,
  /** `stopped` is set: the process ended its marking in good order. */
  stopped: 2,
  /** MPI_Init was seen: only MPI_Finalize sets `stopped`. */
  mpi: 4,
  /** `stopped` is set, and counts once the process is gone: it is about to become another program. */
  leaving: 8,
} as const;

/** Cells of a thread slot. */
export const T = {
  /** u32: even = the slot and its nodes are whole; odd = being written. */
  seq: 0,
  /** u32, compare and swap: 0 free, 1 a living thread's, 2 of a thread that ended (may be taken over: sums go on). */
  state: 4,
  /** u32: kernel id. */
  tid: 8,
  /** u32: regions that it is inside. */
  depth: 12,
  /** u32: hash of the outermost region, 0 outside. */
  hash: 16,
  /** u32: hint of the innermost region, 0 (UNSET) outside. */
  hint: 20,
  /** u32: node of the innermost region, 0 outside. */
  node: 24,
  /** i32: the only CPU it may run on, -1 where there are several. */
  cpu: 28,
  /** f64: when the outermost region was entered. */
  entered: 32,
  /** u32: units of work that this thread announced for all (tprof_init), and has done (tprof_post), in `workRound`. */
  workTotal: 40,
  workDone: 44,
  /** u32: nodes in use, from 0. */
  nodesUsed: 48,
  /** u32, wraps: events ever written to its ring. */
  ringHead: 52,
  /** u32: depth of entries that found no node. */
  unplacedDepth: 56,
  /** u32: 1 = a simulator's engine runs, or ran, in this thread, and the cells below are its. */
  simulates: 60,
  /** f64 each: the GVT that it has reached; events handled, rolled back, committed; rollbacks; GVT computations. */
  gvt: 64,
  eventsProcessed: 72,
  eventsRolledBack: 80,
  eventsCommitted: 88,
  rollbacks: 96,
  gvtComputations: 104,
  /** u64: its part of the time in which any thread was in a region, ns. */
  united: 112,
  /** u32: `round` of the header when it announced or did work. */
  workRound: 120,
} as const;
export const THREAD_BYTES = 128;
export const THREAD_FREE = 0;
export const THREAD_LIVE = 1;
export const THREAD_ENDED = 2;

/** Cells of a region slot. Region 0 is OVERFLOW_NAME: all for which there was no place. */
export const R = {
  /** u32: 0 not (yet) there, 1 whole. */
  state: 0,
  /** u32: CRC-32 of the name's bytes. 0 (an empty name) counts as unmarked, as in GEOPM. */
  hash: 4,
  /** u32 */
  hint: 8,
  /** u32: where its name begins, bytes from `names`. */
  name: 12,
  /** u32 */
  nameBytes: 16,
  /** u32, atomic add: threads that are in it, as their outermost region. */
  inside: 20,
} as const;
export const REGION_BYTES = 32;
export const OVERFLOW_NAME = '(overflow)';

/** Cells of a node: a region inside the regions above it, of one thread. */
export const N = {
  /** u32: region slot. */
  region: 0,
  /** u32: nodes of this tree; 0 as child or sibling = none. */
  parent: 4,
  firstChild: 8,
  nextSibling: 12,
  /** u32: KIND */
  kind: 16,
  /** u32: 1 while inside; of an asynchronous node, spans that are open. */
  inside: 20,
  /** f64: visits completed. */
  count: 24,
  /** f64: their nanoseconds. */
  total: 32,
  /** f64: when the visit that is open began. */
  entered: 40,
  /** u64: of an outermost region, this thread's part of the time in which any thread was in it, ns. */
  united: 48,
} as const;
export const NODE_BYTES = 64;
export const KIND_SYNC = 0;
/** Spans that overlap each other (asynchronous work): counted, never attributed. Their parent is node 0. */
export const KIND_ASYNC = 1;

/** Cells of an event. */
export const E = {
  /** f64 */
  time: 0,
  /** u32: EVENT_* (GEOPM's codes). */
  code: 8,
  /** u32: hash of the region, or number of the epoch (from 1). */
  value: 12,
  /** u32: depth after entering, or before leaving: 1 = GEOPM would see it. */
  depth: 16,
  /** u32: kernel id of the thread: its slot may be another's when this is read. */
  tid: 20,
} as const;
export const EVENT_BYTES = 24;
export const EVENT_REGION_ENTRY = 0;
export const EVENT_REGION_EXIT = 1;
export const EVENT_EPOCH = 2;

/** Rooms of a page. The file is sparse: what is not used costs nothing. */
export const THREAD_CAPACITY = 16_384;
/** The others have less room: few processes have that many threads at once. */
export const WIDE_THREADS = 2048;
export const NARROW_NODES = 128;
/** Events of their rings at most. */
const NARROW_RING = 64;
export const REGION_CAPACITY = 4096;
export const NODE_CAPACITY = 8192;
export const NAME_CAPACITY = 1 << 20;
/** Where memory is limited, so that a page of that many threads cannot be mapped. */
export const THREAD_CAPACITY_SMALL = 128;
/** Deeper entries are only counted (`unplaced`). */
export const MOST_DEPTH = 64;

/** GEOPM's hints, by number. */
export const HINTS = [
  'unset',
  'unknown',
  'compute',
  'memory',
  'network',
  'io',
  'serial',
  'parallel',
  'ignore',
  'inactive',
  'spin',
] as const;
/** What a region says that it does, as in GEOPM. */
export type Hint = (typeof HINTS)[number];

/** What the controller sets, and marking programs read. */
export const ENV_DIR = 'TRISCOPE_REGION_DIR';
/** Events per thread that rings hold, a power of two; absent or 0: no rings. */
export const ENV_RING = 'TRISCOPE_REGION_RING';
/** What is to be marked without a change to the program: fs,http,fetch,sim. */
export const ENV_AUTO = 'TRISCOPE_AUTO';
/** Names of programs, with commas between: only these are seen. As GEOPM has it. */
export const ENV_FILTER = 'GEOPM_PROGRAM_FILTER';
/** The report of the controller around a program. */
export const ENV_REPORT = 'TRISCOPE_REGION_REPORT';

/** Where the parts of a page of these capacities lie. */
interface PageOffsets {
  readonly threads: number;
  readonly regions: number;
  readonly names: number;
  readonly nodes: number;
  readonly rings: number;
  readonly bytes: number;
}

/** Events of the rings of slots beyond the wide ones. */
export const narrowRingOf = (ringCapacity: number): number => Math.min(ringCapacity, NARROW_RING);

/** Nodes, or events, of all slots before `slot`: `many` of each wide one, `few` of the others. @param wide 0: all are */
const itemsBefore = (slot: number, wide: number, many: number, few: number): number =>
  wide === 0 || slot <= wide ? slot * many : wide * many + (slot - wide) * few;

/** Where the nodes and events of a slot lie, bytes from the file's start, and how many there are. */
export interface SlotRooms {
  readonly nodes: number;
  readonly nodeCapacity: number;
  readonly ring: number;
  readonly ringCapacity: number;
}

/** Of a page whose words are `u32`; the slot after the last one begins where the parts end. */
export function slotRooms(u32: Uint32Array, slot: number): SlotRooms {
  const [wide, nodes, ring] = [H.wideThreads, H.nodeCapacity, H.ringCapacity].map(
    (at) => u32[at >> 2],
  );
  const [fewNodes, fewEvents] = [u32[H.narrowNodes >> 2], u32[H.narrowRing >> 2]];
  const isWide = wide === 0 || slot < wide;
  return {
    nodes: u32[H.nodes >> 2] + itemsBefore(slot, wide, nodes, fewNodes) * NODE_BYTES,
    nodeCapacity: isWide ? nodes : fewNodes,
    ring: u32[H.rings >> 2] + itemsBefore(slot, wide, ring, fewEvents) * EVENT_BYTES,
    ringCapacity: isWide ? ring : fewEvents,
  };
}

export function pageOffsets(ringCapacity: number, threadCapacity = THREAD_CAPACITY): PageOffsets {
  const items = (many: number, few: number) => itemsBefore(threadCapacity, WIDE_THREADS, many, few);
  const threads = HEADER_BYTES;
  const regions = threads + threadCapacity * THREAD_BYTES;
  const names = regions + REGION_CAPACITY * REGION_BYTES;
  const nodes = names + NAME_CAPACITY;
  const rings = nodes + items(NODE_CAPACITY, NARROW_NODES) * NODE_BYTES;
  const bytes = rings + items(ringCapacity, narrowRingOf(ringCapacity)) * EVENT_BYTES;
  return { threads, regions, names, nodes, rings, bytes };
}
