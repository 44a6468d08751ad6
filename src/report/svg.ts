/** Charts as SVG text. Colours are those of the page: classes, so that they follow its theme. */
import { escapeText } from '../model/markup.ts';
import { short } from '../model/measures/index.ts';
import type { BarChart, Chart, LineChart } from './chart.ts';

const WIDTH = 640;
const HEIGHT = 220;
const LEFT = 56;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 28;
const BAR = 22;
const NAME = 150;

const axisText = (value: number): string => short(value, { digits: true });

/** Round numbers from `from` to `to`: about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((k) => k * power >= rough) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
}

const at = (value: number): string => String(Number(value.toFixed(1)));

function extentOf({ series }: LineChart) {
  const points = series.flatMap(({ points: own }) => own);
  const xs = points.map(([x]) => x);
  const bounds = series.flatMap(({ intervals = [] }) => intervals.flatMap(([, a, b]) => [a, b]));
  const ys = [...points.flatMap(([, y]) => (y === null ? [] : [y])), ...bounds];
  const [low, high] = [Math.min(0, ...ys), Math.max(0, ...ys)];
  return {
    from: Math.min(...xs),
    to: Math.max(...xs),
    low,
    high: high > low ? high : low + 1,
  };
}

function lines(chart: LineChart): string {
  const { from, to, low, high } = extentOf(chart);
  const x = (value: number) =>
    LEFT + ((value - from) / Math.max(to - from, 1e-12)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) =>
    HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const parts: string[] = [];
  for (const tick of ticks(low, high, 4)) {
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(y(tick))}" y2="${at(y(tick))}"/>`,
      `<text class="axis" x="${LEFT - 6}" y="${at(y(tick) + 4)}" text-anchor="end">${axisText(tick)}</text>`,
    );
  }
  const unit = chart.over === '' ? '' : ` ${chart.over}`;
  const below = chart.words?.map((_, k) => k) ?? ticks(from, to, 6);
  for (const tick of below) {
    const text = chart.words === undefined ? `${axisText(tick)}${unit}` : chart.words[tick];
    parts.push(
      `<text class="axis" x="${at(x(tick))}" y="${HEIGHT - 8}" text-anchor="middle">${escapeText(text)}</text>`,
    );
  }
  chart.series.forEach(({ points, intervals = [] }, k) => {
    // A line for each stretch without a gap.
    let path = '';
    let down = false;
    for (const [px, py] of points) {
      if (py !== null) path += `${down ? 'L' : 'M'}${at(x(px))} ${at(y(py))}`;
      down = py !== null;
    }
    parts.push(`<path class="line c${k % 8}" d="${path}"/>`);
    for (const [px, low, high] of intervals) {
      const [left, right] = [at(x(px) - 4), at(x(px) + 4)];
      const [bottom, top] = [at(y(low)), at(y(high))];
      parts.push(
        `<path class="interval c${k % 8}" d="M${left} ${bottom}H${right}M${at(x(px))} ${bottom}V${top}M${left} ${top}H${right}"/>`,
      );
    }
    if (intervals.length > 0) {
      for (const [px, py] of points)
        if (py !== null)
          parts.push(`<circle class="mean c${k % 8}" cx="${at(x(px))}" cy="${at(y(py))}" r="3"/>`);
    }
  });
  return picture(chart, HEIGHT, parts);
}

function bars(chart: BarChart): string {
  const most = Math.max(...chart.bars.map(({ value }) => value), 1e-12);
  const height = chart.bars.length * BAR + TOP;
  const parts = chart.bars.flatMap(({ name, value }, k) => {
    const y = TOP / 2 + k * BAR;
    const width = Math.max(1, (value / most) * (WIDTH - NAME - 80));
    const short = name.length > 22 ? `${name.slice(0, 21)}…` : name;
    return [
      `<text class="axis" x="${NAME - 6}" y="${y + 15}" text-anchor="end">${escapeText(short)}</text>`,
      `<rect class="bar" x="${NAME}" y="${y + 3}" width="${at(width)}" height="${BAR - 6}"/>`,
      `<text class="axis" x="${at(NAME + width + 6)}" y="${y + 15}">${axisText(value)}</text>`,
    ];
  });
  return picture(chart, height, parts);
}

function picture({ title, unit }: Chart, height: number, parts: readonly string[]): string {
  const name = escapeText(`${title}, ${unit}`);
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}"><title>${name}</title>${parts.join('')}</svg>`;
}

export const svgOf = (chart: Chart): string =>
  chart.kind === 'lines' ? lines(chart) : bars(chart);
