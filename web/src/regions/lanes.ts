/** Lanes of regions over time: painted, as SVG, and as a table. */
import type { Axis } from '../axis.ts';
import { percent } from '../figures.ts';
import { coordinate } from '../parts/coordinate.ts';
import { flagsSvg, type SvgField, timesSvg } from '../parts/flags-svg.ts';
import { HATCH_ID, hatch, hatchPattern } from '../parts/hatch.ts';
import { css, escaped, svgDocument } from '../parts/svg.ts';
import type { ShownTable } from '../parts/table.ts';
import type { Lane } from './lane.ts';

/** How a region is drawn. */
export interface Look {
  readonly name: string;
  /** CSS colour; null: not drawn. */
  readonly colour: string | null;
}
export type Looks = (hash: number) => Look;

export const LANE = 18;
const GAP = 3;
/** Least width in pixels of a span with a name. */
const NAMED = 44;
const PER_LETTER = 6.2;
const PALE = 0.35;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly wide: number;
  readonly high: number;
  readonly look: Look;
  readonly name: string;
  readonly share: number;
  readonly marked: boolean;
}

/** Rectangles of all lanes at a given width. */
function boxesOf(
  lanes: readonly Lane[],
  looks: Looks,
  x: (seconds: number) => number,
): readonly Box[] {
  return lanes.flatMap(({ spans }, row) =>
    spans.flatMap(({ from, to, hash, share, name, marked = false }) => {
      const look = looks(hash);
      if (look.colour === null) return [];
      const left = x(from);
      const wide = Math.max(0.5, x(to) - left);
      const place = { x: left, y: row * LANE, wide, high: LANE - GAP };
      return [{ ...place, look, name: name ?? look.name, share, marked }];
    }),
  );
}

const placed = (axis: Axis, from: number, to: number, width: number) => {
  const [first, last] = [axis.of(from), axis.of(to)];
  return (seconds: number) => ((axis.of(seconds) - first) / (last - first)) * width;
};

function fitting(name: string, wide: number): string {
  if (wide < NAMED) return '';
  const letters = Math.floor((wide - 8) / PER_LETTER);
  return name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
}

/** Black or white, whichever is easier to read on a colour `#rrggbb`. */
function inkOn(colour: string): string {
  const value = Number.parseInt(colour.slice(1), 16);
  const [r, g, b] = [value >> 16, (value >> 8) & 255, value & 255];
  const part = (c: number) =>
    c / 255 <= 0.04 ? c / 255 / 12.9 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const light = 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  return light > 0.19 ? '#000000' : '#ffffff';
}

export function paintLanes(
  canvas: HTMLCanvasElement,
  lanes: readonly Lane[],
  looks: Looks,
  span: readonly [number, number],
  axis: Axis,
  width: number,
  ratio: number,
): void {
  const high = lanes.length * LANE;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(high * ratio);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, high);
  const x = placed(axis, span[0], span[1], width);
  context.font = `11px ${css('--font')}`;
  context.textBaseline = 'middle';
  for (const box of boxesOf(lanes, looks, x)) {
    const { x: left, y, wide, high: tall, look, share } = box;
    if (left > width || left + wide < 0) continue;
    context.globalAlpha = PALE + (1 - PALE) * share;
    context.fillStyle = look.colour ?? '';
    context.fillRect(left, y, wide, tall);
    context.globalAlpha = 1;
    if (box.marked) {
      context.strokeStyle = css('--text');
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(1, wide - 2), tall - 2);
    }
    // A span that is cut off at the left has its name where it is visible.
    const seen = Math.max(0, left);
    const name = fitting(box.name, Math.min(width, left + wide) - seen);
    if (name === '') continue;
    context.fillStyle = inkOn(look.colour ?? '#000000');
    context.fillText(name, seen + 4, y + tall / 2 + 0.5);
  }
  context.strokeStyle = css('--text');
  lanes.forEach(({ epochs, suspect }, row) => {
    context.lineWidth = 1;
    context.beginPath();
    for (const time of epochs) {
      context.moveTo(Math.round(x(time)) + 0.5, row * LANE);
      context.lineTo(Math.round(x(time)) + 0.5, row * LANE + LANE - GAP);
    }
    context.stroke();
    if (suspect === undefined) return;
    const left = Math.max(0, x(suspect.from));
    if (left < width) hatch(context, left, row * LANE, width - left, LANE - GAP, css('--text'));
  });
}

const WIDE = 900;
const LEFT = 110;

export function lanesSvg(
  title: string,
  sentence: string,
  lanes: readonly Lane[],
  looks: Looks,
  field: SvgField,
): string {
  const { from, to, axis } = field;
  const width = WIDE - LEFT - 12;
  const x = placed(axis, from, to, width);
  const high = lanes.length * LANE;
  const text = `font-size="11" fill="${css('--quiet')}"`;
  const parts = boxesOf(lanes, looks, x).map((one) => {
    const { y, high: tall, look, share } = one;
    const left = Math.max(0, one.x);
    const wide = Math.max(0.5, Math.min(width, one.x + one.wide) - left);
    const name = fitting(one.name, wide);
    const box = `<rect x="${coordinate(LEFT + left)}" y="${y}" width="${coordinate(wide)}" height="${tall}" fill="${look.colour}" fill-opacity="${coordinate(PALE + (1 - PALE) * share)}"/>`;
    if (name === '') return box;
    return `${box}<text x="${coordinate(LEFT + left + 4)}" y="${y + 11}" font-size="11" fill="${inkOn(look.colour ?? '#000000')}">${escaped(name)}</text>`;
  });
  lanes.forEach(({ name, epochs, suspect }, row) => {
    parts.push(
      `<text x="${LEFT - 6}" y="${row * LANE + 11}" text-anchor="end" ${text}>${escaped(name)}</text>`,
    );
    for (const time of epochs) {
      parts.push(
        `<path d="M${coordinate(LEFT + x(time))} ${row * LANE}v${LANE - GAP}" stroke="${css('--text')}"/>`,
      );
    }
    if (suspect === undefined) return;
    const left = Math.max(0, x(suspect.from));
    parts.push(
      `<rect x="${coordinate(LEFT + left)}" y="${row * LANE}" width="${coordinate(width - left)}" height="${LANE - GAP}" fill="url(#${HATCH_ID})"><title>${escaped(suspect.what)}</title></rect>`,
    );
  });
  const frame = { left: LEFT, top: 0, width, high };
  parts.push(flagsSvg(field, frame), timesSvg(field, { ...frame, top: high }));
  const clip = `<clipPath id="lanes"><rect x="0" y="0" width="${WIDE}" height="${high + 24}"/></clipPath>`;
  return svgDocument(
    title,
    sentence,
    WIDE,
    high + 24,
    `<defs>${hatchPattern(css('--text'))}${clip}</defs><g clip-path="url(#lanes)">${parts.join('\n')}</g>`,
  );
}

/** Seconds of each lane in each region, as drawn. */
export function lanesTable(lanes: readonly Lane[], looks: Looks): ShownTable {
  const rows = lanes.flatMap(({ name, spans, suspect }) => {
    const times = new Map<number, number>();
    let all = 0;
    for (const { from, to, hash, share } of spans) {
      times.set(hash, (times.get(hash) ?? 0) + (to - from) * share);
      all += to - from;
    }
    return [...times]
      .sort(([, a], [, b]) => b - a)
      .map(([hash, time]) => ({
        id: `${name} ${hash}`,
        ...(suspect !== undefined && { suspect: suspect.what }),
        cells: { lane: name, region: looks(hash).name, time, share: (100 * time) / all },
      }));
  });
  return {
    columns: [
      { key: 'lane', title: 'Lane' },
      { key: 'region', title: 'Region' },
      { key: 'time', title: 'time', unit: 's', figure: (value) => value.toFixed(4), bar: true },
      { key: 'share', title: 'share', unit: '%', figure: (value) => value.toFixed(1) },
    ],
    rows,
  };
}

/** The lane and region that stand out, in words. */
export function lanesSentence(lanes: readonly Lane[], looks: Looks): string {
  const times = new Map<number, number>();
  let all = 0;
  for (const { spans } of lanes) {
    for (const { from, to, hash, share } of spans) {
      if (hash === 0) continue;
      times.set(hash, (times.get(hash) ?? 0) + (to - from) * share);
      all += to - from;
    }
  }
  const [first] = [...times].sort(([, a], [, b]) => b - a);
  if (first === undefined) return 'Nothing was in a region in this window';
  const share = (100 * first[1]) / all;
  return `In this window ${looks(first[0]).name} has the most of the lanes’ time: ${percent(share)}`;
}
