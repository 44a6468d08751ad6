/** All that a region page said at one moment. */
import type { Hint } from '../model/region-layout.ts';

/** A region that a process named. */
export interface PageRegion {
  /** UTF-8; bytes that are not are replaced by U+FFFD. */
  readonly name: string;
  /** CRC-32 of the name's bytes. */
  readonly hash: number;
  /** As when the name was first registered. */
  readonly hint: Hint;
}

/** Time in which any thread of the process was inside. Times in ns since the page's zero. */
interface UnitedTime {
  /** Ends less beginnings, modulo 2^64. */
  readonly ns: bigint;
  /** A thread is inside: the last end is still to come. */
  readonly open: boolean;
}

/**
 * In seconds; where it is open, up to `end`, in seconds since the page's zero. Clocks of threads differ by nanoseconds, so
 * that an end may precede its beginning: never less than 0.
 */
export function unitedSeconds({ ns, open }: UnitedTime, end: number): number {
  const whole = BigInt.asIntN(64, open ? ns + BigInt(Math.round(end * 1e9)) : ns);
  return Math.max(0, Number(whole) / 1e9);
}

/** A region inside the regions above it, in one thread. */
export interface PageNode {
  /** Index of its thread in `PageSnapshot.threads`. */
  readonly thread: number;
  /** Index of its region in `PageSnapshot.regions`. */
  readonly region: number;
  /** Index of the node above it in `PageSnapshot.nodes`; -1 for an outermost region. */
  readonly parent: number;
  /** Whether its visits are asynchronous: they overlap, so nothing is ever attributed to them. */
  readonly async: boolean;
  /** Number of completed visits. */
  readonly count: number;
  /** Seconds of the completed visits together. */
  readonly seconds: number;
  /** Number of visits that are open. */
  readonly inside: number;
  /** When the open visit began, seconds since `PageReader.startNs`; null where none is. */
  readonly entered: number | null;
}

/** A thread of a process, and how many regions deep it is. */
export interface PageThread {
  /** The kernel's id of the thread. */
  readonly tid: number;
  readonly alive: boolean;
  /** Number of regions that it is in, one inside the other. */
  readonly depth: number;
}

/** All that a page says at one moment: regions, threads, and the tree of regions with counts and seconds. */
export interface PageSnapshot {
  readonly regions: readonly PageRegion[];
  readonly threads: readonly PageThread[];
  readonly nodes: readonly PageNode[];
  /** For each region: time in which any thread was in it as its outermost region. */
  readonly united: readonly UnitedTime[];
  /** Time in which any thread was in any region. */
  readonly unitedAny: UnitedTime;
  /** False where a thread wrote without pause: its sums may then be a few visits apart from each other. */
  readonly whole: boolean;
  /** Number of names for which the page had no room; their time is that of the region called (overflow). */
  readonly regionsRefused: number;
  /** Number of threads for which the page had no room. */
  readonly threadsRefused: number;
  /** Number of exits from a region that was not the innermost one. */
  readonly misordered: number;
  /** Number of entries that were too deep, or for which the tree had no room. */
  readonly unplaced: number;
}

/** Of a page that was never read. */
export const NOTHING_SEEN: PageSnapshot = {
  ...{ regions: [], threads: [], nodes: [], united: [], whole: true },
  unitedAny: { ns: 0n, open: false },
  ...{ regionsRefused: 0, threadsRefused: 0, misordered: 0, unplaced: 0 },
};
