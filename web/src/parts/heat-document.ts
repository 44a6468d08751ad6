/** A heatmap over time as an SVG document, with names of rows, scale, times and flags. */
import { flagsSvg, type SvgField, timesSvg } from './flags-svg.ts';
import { binsOf, type Heat, heatSvg } from './heat.ts';
import { hexColour } from './palettes.ts';
import { css, escaped, svgDocument } from './svg.ts';

const LEFT = 72;
const WIDE = 900;
/** Height of all rows, and of one. */
const HIGH = 480;
const LEAST_ROW = 2;
const MOST_ROW = 24;
/** Width of a name. */
const NAME = 12;
const SHADES = 9;

interface Told {
  readonly title: string;
  readonly sentence: string;
  /** Texts at both ends of the scale. */
  readonly scale: readonly [string, string];
}

export function heatDocument(
  heat: Heat,
  { title, sentence, scale }: Told,
  field: SvgField,
): string {
  const each = Math.max(LEAST_ROW, Math.min(MOST_ROW, HIGH / heat.rows.length));
  const high = each * heat.rows.length;
  const stride = Math.max(1, Math.ceil(NAME / each));
  const text = `font-size="11" fill="${css('--quiet')}"`;
  const names = heat.rows.map(({ label }, k) =>
    k % stride === 0
      ? `<text x="${LEFT - 8}" y="${((k + 0.5) * each + 4).toFixed(1)}" text-anchor="end" ${text}>${escaped(label)}</text>`
      : '',
  );
  const { from, to, axis } = field;
  const [first, last] = [axis.of(from), axis.of(to)];
  const binAt = (share: number) =>
    ((axis.seconds(first + share * (last - first)) - from) / (to - from)) * binsOf(heat);
  const isEven = axis.kind === 'real' || axis.kind === 'wall';
  const placed = isEven ? heat : { ...heat, binAt };
  const cells = `<g transform="translate(${LEFT} 0)">${heatSvg(placed, WIDE, high, css('--text'))}</g>`;
  const place = { left: LEFT, top: 0, width: WIDE, high };
  const below = high + 24;
  const shades = Array.from({ length: SHADES }, (_, k) => {
    const shade = hexColour(Math.round((255 * k) / (SHADES - 1)), heat.scale.palette);
    return `<rect x="${LEFT + WIDE - 200 + 12 * k}" y="${below}" width="12" height="10" fill="${shade}"/>`;
  });
  const [least, most] = scale;
  const legend = [
    `<text x="${LEFT + WIDE - 206}" y="${below + 9}" text-anchor="end" ${text}>${escaped(least)}</text>`,
    ...shades,
    `<text x="${LEFT + WIDE - 200 + 12 * SHADES + 6}" y="${below + 9}" ${text}>${escaped(most)}</text>`,
  ];
  const parts = [
    ...names,
    cells,
    flagsSvg(field, place),
    timesSvg(field, { ...place, top: high }),
    ...legend,
  ];
  return svgDocument(title, sentence, LEFT + WIDE + 12, below + 20, parts.join('\n'));
}
