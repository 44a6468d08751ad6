/** Flags over a drawn field, and times below it, as parts of SVG documents. */
import type { Flag } from '../../../src/view/facts/flag.ts';
import type { Axis } from '../axis.ts';
import { flagPlaces } from '../flags.ts';
import { ticksOf } from '../timeline/ticks.ts';
import { coordinate } from './coordinate.ts';
import { css, escaped } from './svg.ts';

/** Seconds, and where they are drawn. */
export interface SvgField {
  readonly from: number;
  readonly to: number;
  readonly axis: Axis;
  readonly flags: readonly Flag[];
}

interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly high: number;
}

const COLOURS = { note: '--accent', mark: '--quiet', finding: '--warn' } as const;
const FLAG = 9;

/** Poles with their texts, and what stretches cover. */
export function flagsSvg(
  { from, to, axis, flags }: SvgField,
  { left, top, width, high }: Frame,
): string {
  const [first, last] = [axis.of(from), axis.of(to)];
  const share = (seconds: number) => (axis.of(seconds) - first) / (last - first);
  return flagPlaces(flags, share, FLAG / width)
    .map(({ kind, at, end, text }) => {
      const colour = css(COLOURS[kind]);
      const x = (part: number) => left + Math.max(0, Math.min(1, part)) * width;
      const title = `<title>${escaped(text)}</title>`;
      const stretch =
        end > at
          ? `<rect x="${coordinate(x(at))}" y="${top}" width="${coordinate(x(end) - x(at))}" height="${coordinate(high)}" fill="${colour}" fill-opacity="0.1">${title}</rect>`
          : '';
      if (at < 0) return stretch;
      const way = at > 0.98 ? -FLAG : FLAG;
      const pole = `<path d="M${coordinate(x(at))} ${top}v${coordinate(high)}" stroke="${colour}" stroke-opacity="0.6"/>`;
      const flag = `<path d="M${coordinate(x(at))} ${top}l${way} 4.5l${-way} 4.5z" fill="${colour}">${title}</path>`;
      return stretch + pole + flag;
    })
    .join('\n');
}

/** Round times below a field whose bottom is `top`. */
export function timesSvg(
  { from, to, axis }: SvgField,
  { left, top, width }: Omit<Frame, 'high'>,
): string {
  return ticksOf(axis, [from, to], width)
    .map(({ at, text }) => {
      const x = coordinate(left + at * width);
      return `<path d="M${x} ${top}v5" stroke="${css('--quiet')}"/><text x="${x}" y="${top + 16}" font-size="11" fill="${css('--quiet')}">${escaped(text)}</text>`;
    })
    .join('');
}
