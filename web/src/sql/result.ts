/** A query's answer as table and as chart. Pure. */

import { escapeText as escaped } from '../../../src/model/markup.ts';
import type { QueryAnswer, QueryCell } from '../../../src/view/facts/query.ts';
import { short } from '../figures.ts';
import { coordinate } from '../parts/coordinate.ts';
import { roundValues } from '../parts/round.ts';
import type { ShownCell, ShownTable } from '../parts/table.ts';

const cellOf = (value: QueryCell): ShownCell =>
  value === null || typeof value === 'number' || typeof value === 'string'
    ? value
    : typeof value === 'boolean'
      ? String(value)
      : JSON.stringify(value);

/** Whole numbers whole; others to seven digits: files have them all. */
const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));

/** Columns by their place: two may have one name. */
export function resultTable({ columns, rows }: QueryAnswer): ShownTable {
  return {
    columns: columns.map(({ name, type }, k) => ({
      key: `c${k}`,
      title: name,
      help: type,
      figure,
    })),
    rows: rows.map((row, at) => ({
      id: String(at),
      cells: Object.fromEntries(row.map((value, k) => [`c${k}`, cellOf(value)])),
    })),
  };
}

export interface Drawable {
  /** Place of the column across, and of those drawn. */
  readonly x: number;
  readonly ys: readonly number[];
}

const TIMES = ['t', 'real_time', 'virtual_time', 'gvt'];
/** Names of entity columns, which are not amounts. */
const ID = /(^|_)id$|^(pe|kp|lp|cpu|rank|process|hash)$/;
const MOST_LINES = 8;

/** What can be drawn: numbers over time, else over the first column of numbers. Null where there are no two. */
export function drawableOf({ columns, rows }: QueryAnswer): Drawable | null {
  const numeric = columns.flatMap((_, k) =>
    rows.some((row) => typeof row[k] === 'number') &&
    rows.every((row) => row[k] === null || typeof row[k] === 'number')
      ? [k]
      : [],
  );
  const x = numeric.find((k) => TIMES.includes(columns[k].name)) ?? numeric[0];
  const ys = numeric.filter((k) => k !== x && !ID.test(columns[k].name)).slice(0, MOST_LINES);
  return x === undefined || ys.length === 0 ? null : { x, ys };
}

const [LEFT, RIGHT, HIGH, BOTTOM] = [64, 12, 220, 24];
/** Pixels of half a letter. */
const LETTER = 4;

/** Points of each column, `colours` in turn, in an SVG `width` pixels wide. Texts are escaped. */
export function resultSvg(
  { columns, rows }: QueryAnswer,
  { x, ys }: Drawable,
  width: number,
  colours: readonly string[],
): string {
  const points = rows.flatMap((row) => (typeof row[x] === 'number' ? [row] : []));
  const across = points.map((row) => row[x] as number);
  const up = points.flatMap((row) =>
    ys.flatMap((k) => (typeof row[k] === 'number' ? [row[k]] : [])),
  );
  const ends = (values: readonly number[]) => {
    const [least, most] = values.reduce(
      ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    );
    return least < most ? [least, most] : [least - 1, most + 1];
  };
  const [[x0, x1], [low, top]] = [ends(across), ends([0, ...up])];
  const px = (value: number) => LEFT + ((value - x0) / (x1 - x0)) * (width - LEFT - RIGHT);
  const py = (value: number) => 8 + (1 - (value - low) / (top - low)) * (HIGH - 8);
  const text = 'font-size="11" fill="currentColor"';
  const parts: string[] = [];
  for (const value of roundValues(low, top)) {
    const at = coordinate(py(value));
    parts.push(
      `<path d="M${LEFT} ${at}H${width - RIGHT}" stroke="currentColor" opacity="0.15"/>`,
      `<text x="${LEFT - 6}" y="${at}" dy="4" text-anchor="end" ${text}>${short(value)}</text>`,
    );
  }
  const moments = roundValues(x0, x1);
  moments.forEach((moment, k) => {
    const says = `${moment}${k === moments.length - 1 ? ` ${columns[x].name}` : ''}`;
    const isAtEnd = px(moment) > width - RIGHT - LETTER * says.length;
    parts.push(
      `<text x="${coordinate(px(moment))}" y="${HIGH + 16}" text-anchor="${isAtEnd ? 'end' : 'middle'}" ${text}>${escaped(says)}</text>`,
    );
  });
  ys.forEach((column, n) => {
    const dots = points.flatMap((row) => {
      const value = row[column];
      if (typeof value !== 'number') return [];
      return [`M${coordinate(px(row[x] as number))} ${coordinate(py(value))}h0`];
    });
    parts.push(
      `<path d="${dots.join('')}" fill="none" stroke="${colours[n % colours.length]}" stroke-width="3" stroke-linecap="round"/>`,
    );
  });
  return parts.join('');
}

export const RESULT_HEIGHT = HIGH + BOTTOM;
