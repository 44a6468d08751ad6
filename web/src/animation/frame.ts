/** One frame of the animation, and its marks as SVG. */
import type { AnimationFacts, DrawnPlaces } from '../../../src/view/simulation/animation.ts';
import { coordinate } from '../parts/coordinate.ts';
import { hexColour, type Scale, stepOf } from '../parts/palettes.ts';

/** One frame as it is drawn. */
export interface Frame {
  readonly places: DrawnPlaces;
  readonly links: AnimationFacts['links'];
  /** A value per LP; NaN for none. */
  readonly values: Float32Array;
  readonly scale: Scale;
  /** LP under the pointer; -1 for none. */
  readonly chosen: number;
}

/** Joined LPs are round, LPs in a grid are square. */
export const isGrid = ({ links }: Frame) => links.length === 0;

/** The marks and the lines between them. */
export function frameSvg(frame: Frame): string {
  const { places, links, values, scale } = frame;
  const { x, y, radius } = places;
  const lines = links.map(
    ([a, b]) =>
      `<line x1="${coordinate(x[a])}" y1="${coordinate(y[a])}" x2="${coordinate(x[b])}" y2="${coordinate(y[b])}" stroke="#999"/>`,
  );
  const marks = Array.from(x, (_, k) => {
    const step = stepOf(values[k], scale);
    const colour =
      step < 0 ? 'fill="none" stroke="#999"' : `fill="${hexColour(step, scale.palette)}"`;
    return isGrid(frame)
      ? `<rect x="${coordinate(x[k] - radius)}" y="${coordinate(y[k] - radius)}" width="${coordinate(2 * radius)}" height="${coordinate(2 * radius)}" ${colour}/>`
      : `<circle cx="${coordinate(x[k])}" cy="${coordinate(y[k])}" r="${coordinate(radius)}" ${colour}/>`;
  });
  return [...lines, ...marks].join('\n');
}
