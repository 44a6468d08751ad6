/** Strips: a dot for each process, a box for the middle half. */
import { coordinate } from '../parts/coordinate.ts';
import { css, escaped } from '../parts/svg.ts';
import { general, type Strip } from './report.ts';

const ROW = 26;
const LEFT = 150;
const RIGHT = 24;
const BOTTOM = 22;
const TICKS = 4;
const NAME = 22;

export const spreadHeight = (strips: readonly Strip[]): number => strips.length * ROW + BOTTOM;

/** What goes into an SVG of `width` pixels. */
export function spreadSvg(strips: readonly Strip[], width: number): string {
  const most = Math.max(...strips.map((strip) => strip.most), Number.MIN_VALUE);
  const left = Math.min(LEFT, width / 3);
  const x = (value: number) => coordinate(left + (value / most) * (width - left - RIGHT));
  const high = strips.length * ROW;
  const text = `font-size="11" fill="${css('--quiet')}"`;
  const parts: string[] = [];
  for (let k = 0; k <= TICKS; k++) {
    const value = (k * most) / TICKS;
    const anchor = k === TICKS ? 'end' : 'middle';
    parts.push(
      `<path d="M${x(value)} 0V${high}" stroke="${css('--line')}"/>`,
      `<text x="${x(value)}" y="${high + 15}" text-anchor="${anchor}" ${text}>${general(Number(value.toPrecision(2)))} s</text>`,
    );
  }
  const letters = Math.max(6, Math.floor((left - 12) / 6.3));
  strips.forEach(({ region, points, quarters, median }, row) => {
    const y = row * ROW + ROW / 2;
    const name =
      region.length > Math.min(NAME, letters) ? `${region.slice(0, letters - 1)}…` : region;
    parts.push(
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end" font-size="12" fill="${css('--text')}"><title>${escaped(region)}</title>${escaped(name)}</text>`,
    );
    if (points.length > 2) {
      const wide = Math.max(1, Number(x(quarters[1])) - Number(x(quarters[0])));
      parts.push(
        `<rect x="${x(quarters[0])}" y="${y - 7}" width="${coordinate(wide)}" height="14" fill="${css('--c0')}" fill-opacity="0.18" stroke="${css('--c0')}"/>`,
        `<path d="M${x(median)} ${y - 7}v14" stroke="${css('--c0')}" stroke-width="2"/>`,
      );
    }
    for (const point of points) {
      parts.push(
        `<circle cx="${x(point.value)}" cy="${y}" r="3.5" fill="${css('--c1')}" fill-opacity="0.75"><title>${escaped(point.name)}: ${general(point.value)} s in ${escaped(region)}</title></circle>`,
      );
    }
  });
  return parts.join('\n');
}
