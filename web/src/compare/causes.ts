/** Why B took longer than A, as tables: what the time was spent on, and which lanes differ. */
import type { CompareFacts } from '../../../src/view/facts/compare.ts';
import { duration } from '../figures.ts';
import type { ShownTable } from '../parts/table.ts';

type Explanation = NonNullable<CompareFacts['explanation']>;

const signed = (seconds: number): string =>
  seconds < 0 ? `−${duration(-seconds)}` : `${seconds > 0 ? '+' : ''}${duration(seconds)}`;

/** The causes of the difference, largest first. The rows add up to the last one. */
export function causesOf({ lane, causes, a, b, difference }: Explanation): ShownTable {
  const all = { what: 'in all', a, b, difference, from: null };
  return {
    columns: [
      { key: 'what', title: lane === null ? 'Mean of all' : lane },
      { key: 'a', title: 'A', figure: duration },
      { key: 'b', title: 'B', figure: duration },
      { key: 'difference', title: 'B − A', bar: 'signed', figure: signed },
      { key: 'from', title: 'Since', help: 'Second of B at which it began', figure: duration },
    ],
    rows: [...causes, all].map(({ what, a: inA, b: inB, difference: change, from }, k) => ({
      id: String(k),
      cells: { what, a: inA, b: inB, difference: change, from },
    })),
  };
}

/** Each lane's differences by activity; lanes that differ most come first. */
export const lanesOf = ({ parts, lanes }: Explanation): ShownTable => ({
  columns: [
    { key: 'lane', title: 'Of' },
    { key: 'difference', title: 'B − A', figure: signed },
    ...parts.map((title, k) => ({
      ...{ key: `part ${k}`, title, bar: 'signed' as const },
      figure: signed,
    })),
  ],
  rows: lanes.map((one) => ({
    id: one.lane,
    cells: {
      ...{ lane: one.lane, difference: one.difference },
      ...Object.fromEntries(one.parts.map((value, k) => [`part ${k}`, value])),
    },
  })),
});
