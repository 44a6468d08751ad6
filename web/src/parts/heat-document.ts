/** Heatmaps as SVG: names of rows, cells and the scale; over time as a document, with times and flags. */
import { flagsSvg, type SvgField, timesSvg } from './flags-svg.ts';
import { binsOf, type HeatPicture, heatSvg } from './heat.ts';
import { hexColour, type PaletteName } from './palettes.ts';
import { css, escaped, svgDocument } from './svg.ts';

const LEFT = 72;
const WIDE = 900;
/** Height of all rows, and of one. */
const HIGH = 480;
const LEAST_ROW = 2;
const MOST_ROW = 24;
/** Height of a name. */
const NAME = 12;
const SHADES = 9;
const SHADE = 12;
/** Room for the text after the colours. */
const BEHIND = 92;
/** Width of a scale with its texts. */
const SCALE_WIDE = BEHIND + SHADES * SHADE + 60;
/** Height of times below the rows. */
const TIMES = 16;

/** Texts at both ends of a scale. */
type Ends = readonly [least: string, most: string];

interface Told {
  readonly title: string;
  readonly sentence: string;
  readonly scale: Ends;
}

interface Place {
  readonly left: number;
  readonly width: number;
  readonly high: number;
}

const small = () => `font-size="11" fill="${css('--quiet')}"`;

export const heightOf = ({ rows }: HeatPicture): number =>
  rows.length * Math.max(LEAST_ROW, Math.min(MOST_ROW, HIGH / rows.length));

/** Height of `scaleSvg`, with the space above it. */
export const SCALE_HIGH = 28;

/** The colours of a scale between its ends, at the right. */
export function scaleSvg(
  name: PaletteName,
  [least, most]: Ends,
  right: number,
  top: number,
): string {
  const left = right - BEHIND - SHADES * SHADE;
  const y = top + 8;
  const shades = Array.from({ length: SHADES }, (_, k) => {
    const shade = hexColour(Math.round((255 * k) / (SHADES - 1)), name);
    return `<rect x="${left + SHADE * k}" y="${y}" width="${SHADE}" height="10" fill="${shade}"/>`;
  });
  return [
    `<text x="${left - 6}" y="${y + 9}" text-anchor="end" ${small()}>${escaped(least)}</text>`,
    ...shades,
    `<text x="${right - BEHIND + 6}" y="${y + 9}" ${small()}>${escaped(most)}</text>`,
  ].join('\n');
}

/** Cells beside the names of their rows. The scale is below them, after `between` pixels. */
export function namedHeatSvg(
  heat: HeatPicture,
  ends: Ends,
  { left, width, high }: Place,
  between = 0,
): string {
  const each = high / heat.rows.length;
  const stride = Math.max(1, Math.ceil(NAME / each));
  const names = heat.rows.map(({ label }, k) =>
    k % stride === 0
      ? `<text x="${left - 8}" y="${((k + 0.5) * each + 4).toFixed(1)}" text-anchor="end" ${small()}>${escaped(label)}</text>`
      : '',
  );
  return [
    ...names,
    `<g transform="translate(${left} 0)">${heatSvg(heat, width, high, css('--text'))}</g>`,
    scaleSvg(heat.scale.palette, ends, left + Math.max(width, SCALE_WIDE), high + between),
  ].join('\n');
}

export function heatDocument(
  heat: HeatPicture,
  { title, sentence, scale }: Told,
  field: SvgField,
): string {
  const high = heightOf(heat);
  const { from, to, axis } = field;
  const [first, last] = [axis.of(from), axis.of(to)];
  const binAt = (share: number) =>
    ((axis.seconds(first + share * (last - first)) - from) / (to - from)) * binsOf(heat);
  const isEven = axis.kind === 'real' || axis.kind === 'wall';
  const place = { left: LEFT, top: 0, width: WIDE, high };
  const parts = [
    namedHeatSvg(isEven ? heat : { ...heat, binAt }, scale, place, TIMES),
    flagsSvg(field, place),
    timesSvg(field, { ...place, top: high }),
  ];
  const below = high + TIMES + SCALE_HIGH;
  return svgDocument(title, sentence, LEFT + WIDE + 12, below, parts.join('\n'));
}
