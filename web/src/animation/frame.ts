/** One frame of the animation, and its picture as SVG. */
import { escapeText } from '../../../src/model/markup.ts';
import type { AnimationFacts, DrawnPlaces } from '../../../src/view/simulation/animation.ts';
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

const at = (value: number) => Number(value.toFixed(2));

/** @param title as plain text */
export function frameSvg(frame: Frame, width: number, title: string): string {
  const { places, links, values, scale } = frame;
  const { x, y, radius, height } = places;
  const escaped = escapeText(title);
  const lines = links.map(
    ([a, b]) =>
      `<line x1="${at(x[a])}" y1="${at(y[a])}" x2="${at(x[b])}" y2="${at(y[b])}" stroke="#999"/>`,
  );
  const marks = Array.from(x, (_, k) => {
    const step = stepOf(values[k], scale);
    const colour =
      step < 0 ? 'fill="none" stroke="#999"' : `fill="${hexColour(step, scale.palette)}"`;
    return isGrid(frame)
      ? `<rect x="${at(x[k] - radius)}" y="${at(y[k] - radius)}" width="${at(2 * radius)}" height="${at(2 * radius)}" ${colour}/>`
      : `<circle cx="${at(x[k])}" cy="${at(y[k])}" r="${at(radius)}" ${colour}/>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.ceil(height)}" viewBox="0 0 ${width} ${Math.ceil(height)}">`,
    `<title>${escaped}</title><rect width="100%" height="100%" fill="#fff"/>`,
    ...lines,
    ...marks,
    '</svg>\n',
  ].join('\n');
}
