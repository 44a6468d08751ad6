/** Regions inside regions as rectangles: width is time, depth is depth. Pure. */
import type { RegionFacts } from '../../../src/view/facts/regions.ts';

export interface Piece {
  /** Names from the outermost down. */
  readonly path: readonly string[];
  readonly name: string;
  readonly depth: number;
  /** Shares of the width, 0 to 1. */
  readonly left: number;
  readonly width: number;
  /** Seconds. */
  readonly time: number;
  readonly count: number;
  /** Seconds of it in no nested region. */
  readonly own: number;
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

/** The hierarchy of a host; of a report without one the regions alone, and what is in none. */
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

/** Rectangles below `zoom`, which has the whole width; depth 0 is `zoom` itself. */
export function piecesOf(facts: RegionFacts, host: string, zoom: readonly string[] = []): Piece[] {
  const pieces: Piece[] = [];
  let top: Node | undefined = treeOf(facts, host);
  for (const name of zoom) top = top?.inside.get(name);
  if (top === undefined || !(top.time > 0)) return [];
  const place = (here: Node, left: number, width: number, depth: number) => {
    const below = [...here.inside.values()].sort((a, b) => b.time - a.time);
    const inner = below.reduce((sum, { time }) => sum + time, 0);
    const { name, path, time, count } = here;
    pieces.push({ name, path, depth, left, width, time, count, own: Math.max(0, time - inner) });
    // Clocks are read twice: what is inside may seem a little longer than what is around it.
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
