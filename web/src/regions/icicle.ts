/** Regions inside regions as rectangles: width is time, depth is depth; from the outermost on, or from each region to those around it. Pure. */
import type { RegionFacts } from '../../../src/view/facts/regions.ts';

export interface Piece {
  /** Names from the outermost down; of an inverted tree from a region to those around it. */
  readonly path: readonly string[];
  readonly name: string;
  readonly depth: number;
  /** Shares of the width, 0 to 1. */
  readonly left: number;
  readonly width: number;
  /** Seconds. */
  readonly time: number;
  readonly count: number;
  /** Seconds of it in no nested region; of an inverted tree in no region around. */
  readonly own: number;
}

/** How the tree is laid out. */
export interface IcicleLayout {
  /** From each region to those around it: width is the time in no nested region. */
  readonly inverted?: boolean;
  /** Beside each other by their names; else the longest first. */
  readonly byName?: boolean;
}

/** Total time in a region, at every place in the tree. */
export interface RegionTotal {
  readonly name: string;
  /** Seconds in it and in no nested region. */
  readonly self: number;
  /** Seconds in it and in what is nested in it; of a region inside itself the outer one counts. */
  readonly total: number;
  readonly count: number;
}

interface Node {
  readonly name: string;
  readonly path: readonly string[];
  time: number;
  count: number;
  readonly inside: Map<string, Node>;
}

const node = (name: string, path: readonly string[]): Node => ({
  ...{ name, path, time: 0, count: 0 },
  inside: new Map(),
});

function at(root: Node, path: readonly string[]): Node {
  let here = root;
  path.forEach((name, k) => {
    const next = here.inside.get(name) ?? node(name, path.slice(0, k + 1));
    here.inside.set(name, next);
    here = next;
  });
  return here;
}

/** The hierarchy of a host; for a report without one only the regions, and the unmarked time. */
function treeOf(facts: RegionFacts, host: string): Node {
  const root = node('all regions', []);
  const of = facts.rows.find((row) => row.host === host)?.node ?? host;
  const places = facts.places.filter((place) => place.host === of && !place.overlapping);
  const runtime = facts.columns.findIndex(({ key }) => key === 'runtime');
  const count = facts.columns.findIndex(({ key }) => key === 'count');
  if (places.length > 0) {
    for (const { path, time, visits } of places.map((p) => ({
      ...p,
      time: p.runtime,
      visits: p.count,
    }))) {
      const place = at(root, path);
      place.time += Number.isFinite(time) ? time : 0;
      place.count += visits;
    }
  } else {
    for (const { section, region, values, ...row } of facts.rows) {
      if (row.host !== host || section !== 'region') continue;
      const place = at(root, [region]);
      place.time += values[runtime] ?? 0;
      place.count += values[count] ?? 0;
    }
  }
  for (const { time } of root.inside.values()) root.time += time;
  return root;
}

const childrenOf = ({ inside }: Node): readonly Node[] => [...inside.values()];
/** Clocks are read twice, so an inner region may seem a little longer than the one around it. */
const selfOf = (node: Node): number =>
  Math.max(0, node.time - childrenOf(node).reduce((sum, { time }) => sum + time, 0));

function each(node: Node, visit: (node: Node) => void): void {
  if (node.path.length > 0) visit(node);
  for (const below of childrenOf(node)) each(below, visit);
}

/** From each region to those around it, by the time in no nested region. */
function inverted(tree: Node): Node {
  const root = node(tree.name, []);
  each(tree, (one) => {
    const self = selfOf(one);
    root.time += self;
    const around = one.path.toReversed();
    around.forEach((_, k) => {
      const place = at(root, around.slice(0, k + 1));
      place.time += self;
      place.count += one.count;
    });
  });
  return root;
}

/** Each region once, the one with most time of its own first. */
export function regionTotals(facts: RegionFacts, host: string): RegionTotal[] {
  const totals = new Map<string, { self: number; total: number; count: number }>();
  each(treeOf(facts, host), (one) => {
    const own = totals.get(one.name) ?? { self: 0, total: 0, count: 0 };
    totals.set(one.name, own);
    own.self += selfOf(one);
    own.count += one.count;
    if (!one.path.slice(0, -1).includes(one.name)) own.total += one.time;
  });
  return [...totals]
    .map(([name, numbers]) => ({ name, ...numbers }))
    .sort((a, b) => b.self - a.self || b.total - a.total);
}

/** Rectangles below `zoom`, which has the whole width; depth 0 is `zoom` itself. */
export function piecesOf(
  facts: RegionFacts,
  host: string,
  zoom: readonly string[] = [],
  layout: IcicleLayout = {},
): Piece[] {
  const pieces: Piece[] = [];
  const tree = treeOf(facts, host);
  let top: Node | undefined = layout.inverted === true ? inverted(tree) : tree;
  const byName = (a: Node, b: Node) => a.name.localeCompare(b.name, 'en', { numeric: true });
  for (const name of zoom) top = top?.inside.get(name);
  if (top === undefined || !(top.time > 0)) return [];
  const place = (here: Node, left: number, width: number, depth: number) => {
    const below = childrenOf(here).toSorted(
      layout.byName === true ? byName : (a, b) => b.time - a.time,
    );
    const inner = below.reduce((sum, { time }) => sum + time, 0);
    const { name, path, time, count } = here;
    pieces.push({ name, path, depth, left, width, time, count, own: selfOf(here) });
    const whole = Math.max(time, inner);
    let x = left;
    for (const next of below) {
      const wide = (width * next.time) / whole;
      place(next, x, wide, depth + 1);
      x += wide;
    }
  };
  place(top, 0, 1, 0);
  return pieces;
}
