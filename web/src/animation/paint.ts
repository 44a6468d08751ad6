/** Draws LPs at their places, each in the colour of its value: on a canvas, or as SVG. */
import type { AnimationFacts, DrawnPlaces } from '../../../src/view/simulation/animation.ts';
import { cssColour, hexColour, type Scale, stepOf } from '../parts/palettes.ts';

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

/** Colours of the style sheet. */
export interface Ink {
  readonly line: string;
  readonly text: string;
}

/** Joined LPs are round, LPs in a grid are square. */
const isGrid = ({ links }: Frame) => links.length === 0;

/** @param width of the picture, in pixels of the page; the canvas may have more pixels */
export function paint(canvas: HTMLCanvasElement, frame: Frame, width: number, ink: Ink): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { places, links, values, scale, chosen } = frame;
  const { x, y, radius, height } = places;
  const density = window.devicePixelRatio;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  context.setTransform(density, 0, 0, density, 0, 0);
  context.strokeStyle = ink.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const [a, b] of links) {
    context.moveTo(x[a], y[a]);
    context.lineTo(x[b], y[b]);
  }
  context.stroke();
  const draw = (k: number) => {
    context.beginPath();
    if (isGrid(frame)) context.rect(x[k] - radius, y[k] - radius, 2 * radius, 2 * radius);
    else context.arc(x[k], y[k], radius, 0, 2 * Math.PI);
  };
  for (let k = 0; k < x.length; k++) {
    const step = stepOf(values[k], scale);
    draw(k);
    // An LP without a recorded value has an outline and no colour.
    if (step < 0) context.stroke();
    else {
      context.fillStyle = cssColour(step, scale.palette);
      context.fill();
    }
  }
  if (chosen < 0) return;
  context.strokeStyle = ink.text;
  context.lineWidth = 2;
  draw(chosen);
  context.stroke();
}

const at = (value: number) => Number(value.toFixed(2));

/** @param title as plain text */
export function frameSvg(frame: Frame, width: number, title: string): string {
  const { places, links, values, scale } = frame;
  const { x, y, radius, height } = places;
  const escaped = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
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
