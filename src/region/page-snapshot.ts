/** All that a region page said at one moment. */
import type { Hint } from '../model/region-layout.ts';

export interface PageRegion {
  /** UTF-8; bytes that are not are replaced by U+FFFD. */
  readonly name: string;
  /** CRC-32 of the name's bytes. */
  readonly hash: number;
  /** As when the name was first registered. */
  readonly hint: Hint;
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

export interface PageThread {
  /** Kernel id. */
  readonly tid: number;
  readonly alive: boolean;
  readonly depth: number;
}

export interface PageSnapshot {
  readonly regions: readonly PageRegion[];
  readonly threads: readonly PageThread[];
  readonly nodes: readonly PageNode[];
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
  ...{ regions: [], threads: [], nodes: [], whole: true },
  ...{ regionsRefused: 0, threadsRefused: 0, misordered: 0, unplaced: 0 },
};
