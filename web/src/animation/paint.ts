/** Draws LPs at their places on a canvas, each in the colour of its value. */
import { cssColour, stepOf } from '../parts/palettes.ts';
import { type Frame, isGrid } from './frame.ts';

/** Colours of the style sheet. */
export interface AnimationInk {
  readonly line: string;
  readonly text: string;
}

/** @param width of the picture, in pixels of the page; the canvas may have more pixels */
export function paint(
  canvas: HTMLCanvasElement,
  frame: Frame,
  width: number,
  ink: AnimationInk,
): void {
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
