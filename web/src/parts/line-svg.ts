/** Lines or a stack as SVG, from the bins that are on the page. */

import { coordinate } from './coordinate.ts';
import { flagsSvg, type SvgField, timesSvg } from './flags-svg.ts';
import { type ChartLook, type DrawnLine, topOf, tops } from './lines.ts';
import { BAR, colourOf, DASHES, figureOf } from './plot.ts';
import { roundValues } from './round.ts';
import { css, escaped, svgDocument } from './svg.ts';

const WIDE = 900;
const HIGH = 220;
const LEFT = 60;
const RIGHT = 12;
const BOTTOM = 44;
/** Height of the legend. */
const ROW = 16;

/** A path through the points, with gaps where a value is missing. Steps hold a value over its bin. */
function path(xs: ArrayLike<number>, ys: ArrayLike<number>, isStep: boolean): string {
  let drawn = '';
  let pen = false;
  for (let k = 0; k < ys.length; k++) {
    if (Number.isNaN(ys[k])) {
      pen = false;
      continue;
    }
    const [x, y] = [coordinate(xs[k]), coordinate(ys[k])];
    drawn += pen ? (isStep ? `H${x}V${y}` : `L${x} ${y}`) : `M${x} ${y}`;
    pen = true;
  }
  return drawn;
}

/** The area of a part of a stack: down to the axis; the parts below are painted over it. */
function area(xs: ArrayLike<number>, ys: ArrayLike<number>, bottom: number): string {
  let drawn = '';
  for (let k = 0; k < ys.length; k++) {
    if (Number.isNaN(ys[k])) continue;
    let end = k;
    while (end + 1 < ys.length && !Number.isNaN(ys[end + 1])) end++;
    drawn += `M${coordinate(xs[k])} ${bottom}`;
    for (; k <= end; k++) drawn += `L${coordinate(xs[k])} ${coordinate(ys[k])}`;
    drawn += `L${coordinate(xs[end])} ${bottom}Z`;
  }
  return drawn;
}

/** The same as bars as wide as their bins. */
const barsOf = (xs: readonly number[], ys: readonly number[], bottom: number): string => {
  const wide = BAR * (xs.length > 1 ? xs[1] - xs[0] : WIDE - LEFT - RIGHT);
  return ys
    .map((y, k) =>
      Number.isNaN(y)
        ? ''
        : `M${coordinate(xs[k] - wide / 2)} ${bottom}V${coordinate(y)}h${coordinate(wide)}V${bottom}Z`,
    )
    .join('');
};

export function linesSvg(
  chart: ChartLook,
  lines: readonly DrawnLine[],
  sentence: string,
  field: SvgField,
): string {
  const { from, to, axis } = field;
  const columns = chart.stacked ? tops(lines) : lines.map(({ values }) => values);
  const top = topOf(chart, columns, true);
  const count = lines[0]?.values.length ?? 0;
  const [first, last] = [axis.of(from), axis.of(to)];
  const x = (value: number) => LEFT + ((value - first) / (last - first)) * (WIDE - LEFT - RIGHT);
  const y = (value: number) => 8 + (1 - value / top) * (HIGH - 8);
  const xs = Array.from({ length: count }, (_, k) =>
    x(axis.of(from + ((k + 0.5) * (to - from)) / count)),
  );
  const parts: string[] = [
    `<clipPath id="frame-${chart.id}"><rect x="${LEFT}" y="8" width="${WIDE - LEFT - RIGHT}" height="${HIGH - 8}"/></clipPath>`,
  ];
  const figure = figureOf(chart.unit);
  const text = `font-size="11" fill="${css('--quiet')}"`;
  for (const value of roundValues(0, top)) {
    const at = coordinate(y(value));
    parts.push(
      `<path d="M${LEFT} ${at}H${WIDE - RIGHT}" stroke="${css('--line')}"/>`,
      `<text x="${LEFT - 6}" y="${at}" dy="4" text-anchor="end" ${text}>${escaped(figure(value))}</text>`,
    );
  }
  const place = { left: LEFT, top: 8, width: WIDE - LEFT - RIGHT, high: HIGH - 8 };
  parts.push(timesSvg(field, { ...place, top: HIGH }));
  const order = lines.map((_, k) => (chart.stacked ? lines.length - 1 - k : k));
  // Estimates in a stack may sum to more than there was: what is above the scale is not in the picture.
  parts.push(`<g clip-path="url(#frame-${chart.id})">`);
  for (const k of order) {
    const ys = Array.from(columns[k], y);
    parts.push(
      chart.stacked
        ? `<path d="${chart.bars ? barsOf(xs, ys, HIGH) : area(xs, ys, HIGH)}" fill="${colourOf(k)}"/>`
        : `<path d="${path(xs, ys, chart.step === true)}" fill="none" stroke="${colourOf(k)}" stroke-width="1.6" stroke-dasharray="${DASHES[k % DASHES.length].join(' ')}"/>`,
    );
  }
  parts.push('</g>', flagsSvg(field, place));
  let [left, row] = [LEFT, 0];
  lines.forEach(({ label }, k) => {
    const wide = 28 + 6.5 * label.length;
    if (left > LEFT && left + wide > WIDE) [left, row] = [LEFT, row + 1];
    const at = HIGH + 28 + ROW * row;
    parts.push(
      `<rect x="${left}" y="${at}" width="10" height="10" fill="${colourOf(k)}"/>`,
      `<text x="${left + 14}" y="${at + 9}" ${text}>${escaped(label)}</text>`,
    );
    left += wide;
  });
  return svgDocument(chart.title, sentence, WIDE, HIGH + BOTTOM + ROW * row, parts.join('\n'));
}
