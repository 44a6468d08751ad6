/** The contents of a process's page in the form that the report needs: its regions, and the tree of nested regions. */
import { type ExtraValue, hashText } from '../../formats/geopm/write.ts';
import type { ProcessRecord, RegionVisits } from '../exact-totals.ts';
import type { PageReader } from '../page-reader.ts';
import { type PageNode, type PageSnapshot, unitedSeconds } from '../page-snapshot.ts';
import type { ApplicationProcess } from './process-table.ts';

/** Seconds of a node: completed visits and, if one is open, its time up to `end`. All in s since the page's zero. */
function secondsOf(node: PageNode, end: number): number {
  return node.seconds + (node.entered === null ? 0 : Math.max(0, end - node.entered));
}

/**
 * @param zero ns of CLOCK_MONOTONIC
 * @param now the same clock: where open visits end
 */
export function recordOf(process: ApplicationProcess, zero: number, now: number): ProcessRecord {
  const ended = process.alive ? now : process.ended;
  const span = (ended - process.started) / 1e9;
  const { regions, inside, any } = visitsOf(process.snapshot(), (ended - process.zero) / 1e9);
  const before = process.before && visitsOf(process.before.snapshot, process.before.time);
  for (const [hash, was] of before?.regions ?? []) {
    const visits = regions.get(hash);
    if (visits === undefined) continue;
    for (const key of ['count', 'seconds', 'threadSeconds', 'longest'] as const) {
      visits[key] -= was[key];
    }
  }
  for (const visits of regions.values()) {
    const { seconds, longest, threadSeconds } = visits;
    visits.seconds = within(seconds, longest, Math.min(threadSeconds, span));
  }
  const [most, sum] = [Math.max, (a: number, b: number) => a + b].map(
    (of) => reduced(inside, of) - (before === null ? 0 : reduced(before.inside, of)),
  );
  return {
    pid: process.page.pid,
    started: (process.started - zero) / 1e9,
    ended: (ended - zero) / 1e9,
    regions: [...regions.values()].filter(({ count, seconds }) => count > 0 || seconds > 0),
    inside: within(any - (before?.any ?? 0), Math.max(0, most), Math.min(sum, span)),
    epochs: process.epochs,
    firstEpoch: (process.firstEpoch - zero) / 1e9,
    overhead: process.page.overhead,
  };
}

const reduced = (values: Float64Array, of: (a: number, b: number) => number): number =>
  values.reduce((a, b) => of(a, b), 0);

/** All outermost visits that a page records, up to `end`, in s since its zero. */
function visitsOf(snapshot: PageSnapshot, end: number) {
  const regions = new Map<number, Visits>();
  const inside = new Float64Array(snapshot.threads.length);
  const slots = new Map<number, number>();
  for (const node of snapshot.nodes) {
    if (node.parent !== -1 || node.async) continue;
    const { name, hash } = snapshot.regions[node.region] ?? NAMELESS;
    const seconds = secondsOf(node, end);
    inside[node.thread] += seconds;
    slots.set(node.region, hash);
    let visits = regions.get(hash);
    if (visits === undefined) {
      visits = {
        name,
        hash,
        count: 0,
        seconds: 0,
        threadSeconds: 0,
        longest: 0,
        thread: -1,
        own: 0,
      };
      regions.set(hash, visits);
    }
    // Nodes are stored thread by thread.
    if (visits.thread !== node.thread) visits.own = 0;
    visits.thread = node.thread;
    visits.own += seconds;
    visits.count += node.count;
    visits.threadSeconds += seconds;
    visits.longest = Math.max(visits.longest, visits.own);
  }
  for (const [slot, hash] of slots) {
    const visits = regions.get(hash);
    const united = snapshot.united[slot];
    if (visits !== undefined && united) visits.seconds += unitedSeconds(united, end);
  }
  return { regions, inside, any: unitedSeconds(snapshot.unitedAny, end) };
}

/**
 * The time of several threads in a region, within what is certain: at least that of the thread that was inside longest, at
 * most the sum of all. A thread that is killed between the two stores leaves a wrong value.
 */
const within = (seconds: number, least: number, most: number) =>
  Math.max(least, Math.min(most, seconds));

/** Sums of a region's visits: `longest` of the thread that was inside longest, `own` of the thread that is being summed. */
interface Visits extends Writable<RegionVisits> {
  longest: number;
  thread: number;
  own: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NAMELESS = { name: '', hash: 0 };

/** Name of a region that a process is in. */
export function nameOf(page: PageReader, hash: number): string {
  return page.snapshot().regions.find((region) => region.hash === hash)?.name ?? hashText(hash);
}

interface Tree {
  count: number;
  seconds: number;
  async: boolean;
  readonly children: Map<string, Tree>;
}

const newTree = (async: boolean): Tree => ({ count: 0, seconds: 0, async, children: new Map() });

/** The tree of nested regions, summed over threads and processes. */
export class Hierarchy {
  private readonly root = newTree(false);

  /**
   * @param end s since the page's zero: where open visits end
   * @param sign -1 subtracts what was there before
   */
  add(snapshot: PageSnapshot, end: number, sign: 1 | -1 = 1): void {
    const trees: Tree[] = [];
    // Parents precede their children.
    for (const node of snapshot.nodes) {
      const above = node.parent < 0 ? this.root : (trees[node.parent] ?? this.root);
      const { name } = snapshot.regions[node.region] ?? NAMELESS;
      const key = `${node.async ? 'a' : 's'}${name}`;
      const tree = above.children.get(key) ?? newTree(node.async);
      above.children.set(key, tree);
      tree.count += sign * node.count;
      tree.seconds += sign * secondsOf(node, end);
      trees.push(tree);
    }
  }

  value(): ExtraValue[] {
    return listOf(this.root);
  }
}

/** Children, longest first. */
function listOf({ children }: Tree): ExtraValue[] {
  return [...children]
    .filter(([, tree]) => tree.count > 0 || tree.seconds > 0)
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .map(([key, tree]) => ({
      region: key.slice(1),
      count: tree.count,
      'runtime (s)': tree.seconds,
      ...(tree.async && { overlapping: true }),
      ...(tree.children.size > 0 && { inside: listOf(tree) }),
    }));
}
