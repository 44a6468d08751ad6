/** All that a region page holds at one moment. */
import type { Hint } from '../model/region-layout.ts';

/** A region that a process named. */
export interface PageRegion {
  /** UTF-8; bytes that are not valid UTF-8 are replaced by U+FFFD. */
  readonly name: string;
  /** CRC-32 of the name's bytes. */
  readonly hash: number;
  /** The hint with which the name was first registered. */
  readonly hint: Hint;
}

/** Time in which any thread of the process was inside. Times in ns since the page's start. */
interface UnitedTime {
  /** Sum of ends minus sum of beginnings, modulo 2^64. */
  readonly ns: bigint;
  /** A thread is inside: its end is still to come. */
  readonly open: boolean;
}

/**
 * In seconds; while open, up to `end` (seconds since the page's start). Clocks of threads differ by nanoseconds, so an
 * end may precede its beginning; the result is never below 0.
 */
export function unitedSeconds({ ns, open }: UnitedTime, end: number): number {
  const whole = BigInt.asIntN(64, open ? ns + BigInt(Math.round(end * 1e9)) : ns);
  return Math.max(0, Number(whole) / 1e9);
}

/** A region below the regions around it, in one thread. */
export interface PageNode {
  /** Index of its thread in `PageSnapshot.threads`. */
  readonly thread: number;
  /** Index of its region in `PageSnapshot.regions`. */
  readonly region: number;
  /** Index of the enclosing region's node in `PageSnapshot.nodes`; -1 for an outermost region. */
  readonly parent: number;
  /** Whether its visits are asynchronous: they overlap, so nothing is ever attributed to them. */
  readonly async: boolean;
  /** Number of completed visits. */
  readonly count: number;
  /** Total seconds of the completed visits. */
  readonly seconds: number;
  /** Number of visits that are still open. */
  readonly inside: number;
  /** When the open visit began, in seconds since `PageReader.startNs`; null if none is open. */
  readonly entered: number | null;
}

/** A thread of a process, and how many regions deep it is. */
export interface PageThread {
  /** The kernel's id of the thread. */
  readonly tid: number;
  /** Whether the thread still runs. */
  readonly alive: boolean;
  /** Number of regions that it is in, one inside the other. */
  readonly depth: number;
}

/** All that a page holds at one moment: regions, threads, and the tree of regions with counts and seconds. */
export interface PageSnapshot {
  /** Regions that the process has named. */
  readonly regions: readonly PageRegion[];
  /** Threads that have marked regions. */
  readonly threads: readonly PageThread[];
  /** The hierarchy of regions: each node is a region inside another. */
  readonly nodes: readonly PageNode[];
  /** For each region: time in which any thread was in it as its outermost region. */
  readonly united: readonly UnitedTime[];
  /** Time in which any thread was in any region. */
  readonly unitedAny: UnitedTime;
  /** False if a thread wrote without a pause: its sums may then differ by a few visits. */
  readonly whole: boolean;
  /** Number of names for which the page had no room; their time belongs to the region called (overflow). */
  readonly regionsRefused: number;
  /** Number of threads for which the page had no room. */
  readonly threadsRefused: number;
  /** Number of exits from a region that was not the innermost one. */
  readonly misordered: number;
  /** Number of entries that were too deep, or for which the tree had no room. */
  readonly unplaced: number;
}

/** The snapshot of a page that was never read. */
export const NOTHING_SEEN: PageSnapshot = {
  ...{ regions: [], threads: [], nodes: [], united: [], whole: true },
  unitedAny: { ns: 0n, open: false },
  ...{ regionsRefused: 0, threadsRefused: 0, misordered: 0, unplaced: 0 },
};
