/** Hatching: the data drawn there are suspect, and the reason is given beside them. Same in canvas and SVG. */

/** Distance of the lines in CSS pixels. */
const GAP = 6;

/** Hatches a rectangle of a canvas whose unit is a CSS pixel. */
export function hatch(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  colour: string,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  // Lines keep their place when the rectangle moves: neighbours join.
  const first = Math.floor((left - height) / GAP) * GAP - (top % GAP);
  for (let x = first; x < left + width; x += GAP) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}

export const HATCH_ID = 'suspect';

/** A pattern for an SVG's <defs>; fill with `url(#suspect)`. */
export const hatchPattern = (colour: string): string =>
  `<pattern id="${HATCH_ID}" width="${GAP}" height="${GAP}" patternUnits="userSpaceOnUse"><path d="M0 ${GAP}L${GAP} 0" stroke="${colour}" stroke-width="1.2"/></pattern>`;
