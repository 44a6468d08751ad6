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

/** In seconds; where it is open, up to `end`, in seconds since the page's zero. */
export function unitedSeconds({ ns, open }: UnitedTime, end: number): number {
  return Number(BigInt.asIntN(64, open ? ns + BigInt(Math.round(end * 1e9)) : ns)) / 1e9;
}

/** A region inside the regions above it, in one thread. */
export interface PageNode {
  /** Of `PageSnapshot.threads`. */
  readonly thread: number;
  /** Of `PageSnapshot.regions`. */
  readonly region: number;
  /** Of `PageSnapshot.nodes`; -1 = outermost. */
  readonly parent: number;
  /** Spans that overlap: never part of attribution. */
  readonly async: boolean;
  /** Visits completed. */
  readonly count: number;
  /** Their seconds. */
  readonly seconds: number;
  /** Visits that are open. */
  readonly inside: number;
  /** When the open visit began, seconds since `PageReader.startNs`; null where none is. */
  readonly entered: number | null;
}

/** A thread of a process, and how many regions deep it is. */
export interface PageThread {
  /** Kernel id. */
  readonly tid: number;
  readonly alive: boolean;
  readonly depth: number;
}

/** All that a page says at one moment: regions, threads, and the tree of regions with counts and seconds. */
export interface PageSnapshot {
  readonly regions: readonly PageRegion[];
  readonly threads: readonly PageThread[];
  readonly nodes: readonly PageNode[];
  /** Of each region, as the outermost one; and of all together. */
  readonly united: readonly UnitedTime[];
  readonly unitedAny: UnitedTime;
  /** False where a thread wrote without pause: its sums may then be a few visits apart from each other. */
  readonly whole: boolean;
  /** Names that found no place; their time is that of the region called (overflow). */
  readonly regionsRefused: number;
  readonly threadsRefused: number;
  /** Exits of a region that was not the innermost one. */
  readonly misordered: number;
  /** Entries too deep, or into a full tree. */
  readonly unplaced: number;
}

/** Of a page that was never read. */
export const NOTHING_SEEN: PageSnapshot = {
  ...{ regions: [], threads: [], nodes: [], united: [], whole: true },
  unitedAny: { ns: 0n, open: false },
  ...{ regionsRefused: 0, threadsRefused: 0, misordered: 0, unplaced: 0 },
};
