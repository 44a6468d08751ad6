/** A small picture of one host: steps over time on the scale of all hosts, the median host pale behind it, doubtful spans hatched. */
import type { Axis } from '../axis.ts';
import { coordinate } from '../parts/coordinate.ts';
import { hatch } from '../parts/hatch.ts';
import { css, escaped } from '../parts/svg.ts';

export interface Small {
  readonly values: ArrayLike<number>;
  readonly median: ArrayLike<number>;
  /** Top of the scale; its bottom is 0, or `least` if values are negative. */
  readonly most: number;
  readonly least: number;
  readonly from: number;
  readonly to: number;
  readonly suspects: readonly { readonly from: number; readonly to: number }[];
}

/** Where bins begin and end, in pixels of a picture of the seconds `seen`. */
function edges(
  { values, from, to }: Small,
  axis: Axis,
  seen: readonly [number, number],
  width: number,
): Float64Array {
  const count = values.length;
  const [first, last] = [axis.of(seen[0]), axis.of(seen[1])];
  return Float64Array.from(
    { length: count + 1 },
    (_, k) => ((axis.of(from + (k * (to - from)) / count) - first) / (last - first)) * width,
  );
}

interface Steps {
  begin(x: number, y: number): void;
  to(x: number, y: number): void;
}

/** Follows the steps; gaps where nothing was measured. */
function walk(
  values: ArrayLike<number>,
  xs: Float64Array,
  y: (value: number) => number,
  pen: Steps,
): void {
  let isDown = false;
  for (let k = 0; k < values.length; k++) {
    if (Number.isNaN(values[k])) {
      isDown = false;
      continue;
    }
    const at = y(values[k]);
    if (isDown) pen.to(xs[k], at);
    else pen.begin(xs[k], at);
    pen.to(xs[k + 1], at);
    isDown = true;
  }
}

const scaled =
  ({ most, least }: Small, height: number) =>
  (value: number) =>
    height - 1 - ((value - least) / (most - least || 1)) * (height - 3);

export interface Ink {
  readonly line: string;
  readonly quiet: string;
  readonly text: string;
}

export const inks = (): Ink => ({ line: css('--c0'), quiet: css('--quiet'), text: css('--text') });

export function paintSmall(
  canvas: HTMLCanvasElement,
  small: Small,
  axis: Axis,
  seen: readonly [number, number],
  width: number,
  height: number,
  ratio: number,
  ink: Ink,
): void {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const y = scaled(small, height);
  const xs = edges(small, axis, seen, width);
  const pen: Steps = {
    begin: (x, at) => context.moveTo(x, at),
    to: (x, at) => context.lineTo(x, at),
  };
  const stroke = (values: ArrayLike<number>, colour: string, wide: number, dash: number[]) => {
    context.beginPath();
    context.setLineDash(dash);
    walk(values, xs, y, pen);
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.stroke();
  };
  stroke(small.median, ink.quiet, 1, [2, 3]);
  stroke(small.values, ink.line, 1.4, []);
  context.setLineDash([]);
  const [first, last] = [axis.of(seen[0]), axis.of(seen[1])];
  const x = (seconds: number) => ((axis.of(seconds) - first) / (last - first)) * width;
  for (const { from, to } of small.suspects) {
    const left = Math.max(0, x(from));
    const right = Math.min(width, x(to));
    if (right >= left) hatch(context, left, 0, Math.max(2, right - left), height, ink.text);
  }
}

/** The same as an SVG path, moved to `left`, `top`. */
function smallPath(
  small: Small,
  values: ArrayLike<number>,
  axis: Axis,
  left: number,
  top: number,
  width: number,
  height: number,
): string {
  const y = scaled(small, height);
  let path = '';
  walk(values, edges(small, axis, [small.from, small.to], width), y, {
    begin: (x, at) => {
      path += `M${coordinate(left + x)} ${coordinate(top + at)}`;
    },
    to: (x, at) => {
      path += `L${coordinate(left + x)} ${coordinate(top + at)}`;
    },
  });
  return path;
}

export interface SvgHost extends Small {
  readonly host: string;
}

const CARD = 210;
const HIGH = 56;
const COLUMNS = 4;

/** All hosts as small multiples: the body of an SVG with width 900, and its height. */
export function gridSvg(
  hosts: readonly SvgHost[],
  axis: Axis,
): { readonly body: string; readonly height: number } {
  const ink = inks();
  const parts = hosts.map((one, k) => {
    const left = 12 + (k % COLUMNS) * (CARD + 12);
    const top = Math.floor(k / COLUMNS) * (HIGH + 28) + 16;
    const text = `<text x="${left}" y="${top - 4}" font-size="11" fill="${ink.text}">${escaped(one.host)}</text>`;
    const frame = `<path d="M${left} ${top}v${HIGH}h${CARD}" fill="none" stroke="${css('--line')}"/>`;
    const middle = `<path d="${smallPath(one, one.median, axis, left, top, CARD, HIGH)}" fill="none" stroke="${ink.quiet}" stroke-dasharray="2 3"/>`;
    const own = `<path d="${smallPath(one, one.values, axis, left, top, CARD, HIGH)}" fill="none" stroke="${ink.line}" stroke-width="1.4"/>`;
    return text + frame + middle + own;
  });
  return { body: parts.join('\n'), height: Math.ceil(hosts.length / COLUMNS) * (HIGH + 28) + 8 };
}
