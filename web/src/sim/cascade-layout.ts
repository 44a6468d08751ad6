/** Where a cascade's rollbacks are drawn: time to the right, a lane for each KP. */
import type { CascadeNode } from '../../../src/view/simulation/cascades.ts';
import { counted } from '../figures.ts';
import { css, escaped } from '../parts/svg.ts';

/** Heights of a lane: where KPs are few, and where they are many. */
const LANE = 22;
const LOW = 10;
/** From this number of KPs on, a lane is a PE. */
const MOST_LANES = 48;
const ROOMY = 16;
export const WIDE = 1000;
const INSET = 16;
const LEAST = 3;
const MOST = 10;

export interface Placed {
  readonly node: CascadeNode;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface CascadeLayout {
  /** The entity of a lane: a KP or, if there are too many, a PE. */
  readonly of: 'KP' | 'PE';
  /** Paths, from the top. */
  readonly lanes: readonly string[];
  /** Pixels a lane. */
  readonly each: number;
  readonly placed: readonly Placed[];
  readonly height: number;
  /** Seconds from left to right. */
  readonly seconds: number;
}

export const kpOf = ({ pe, kp }: CascadeNode): string => `${pe}/${kp}`;

export function layoutOf(nodes: readonly CascadeNode[]): CascadeLayout {
  const kps = new Set(nodes.map(kpOf));
  const of = kps.size > MOST_LANES ? 'PE' : 'KP';
  const laneOf = of === 'KP' ? kpOf : ({ pe }: CascadeNode) => String(pe);
  const lanes = [...new Set(nodes.map(laneOf))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const each = lanes.length > ROOMY ? LOW : LANE;
  const largest = each === LOW ? LOW / 2 : MOST;
  const laneAt = new Map(lanes.map((lane, k) => [lane, k]));
  const times = nodes.map(({ t }) => t);
  const from = Math.min(...times);
  const seconds = Math.max(...times) - from;
  const most = Math.max(1, ...nodes.map(({ undone }) => undone));
  const placed = nodes.map((node) => ({
    node,
    x: INSET + (seconds > 0 ? (node.t - from) / seconds : 0) * (WIDE - 2 * INSET),
    y: ((laneAt.get(laneOf(node)) ?? 0) + 0.5) * each,
    radius: LEAST + (largest - LEAST) * Math.sqrt(node.undone / most),
  }));
  return { of, lanes, each, placed, height: lanes.length * each, seconds };
}

/** A bent line from a rollback to one that it caused. */
export function link(from: Placed, to: Placed): string {
  const bend = Math.max(12, (to.x - from.x) / 2);
  return `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
}

/** The same as SVG elements, lanes' names at the left of x = 0. */
export function cascadeSvg({ of, lanes, each, placed }: CascadeLayout): string {
  const lines = lanes.map((lane, k) => {
    const y = (k + 0.5) * each;
    return `<line x2="${WIDE}" y1="${y}" y2="${y}" stroke="${css('--line')}"/><text x="-8" y="${y + 4}" font-size="11" text-anchor="end" fill="${css('--quiet')}">${of} ${lane}</text>`;
  });
  const links = placed.flatMap((to) =>
    to.node.parent < 0
      ? []
      : [`<path d="${link(placed[to.node.parent], to)}" fill="none" stroke="${css('--quiet')}"/>`],
  );
  const marks = placed.map(({ node, x, y, radius }) => {
    const title = `<title>${escaped(`KP ${kpOf(node)}: ${counted(node.undone, 'event')} undone`)}</title>`;
    return node.parent < 0
      ? `<rect x="${x - radius}" y="${y - radius}" width="${2 * radius}" height="${2 * radius}" fill="${css('--c1')}">${title}</rect>`
      : `<circle cx="${x}" cy="${y}" r="${radius}" fill="${css('--c0')}">${title}</circle>`;
  });
  return [...lines, ...links, ...marks].join('');
}
