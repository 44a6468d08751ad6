/** Lines over time, and what their CSV holds. */
import { csvText } from '../../../src/model/csv.ts';

export interface DrawnLine {
  readonly label: string;
  /** By bin; NaN where nothing was measured. */
  readonly values: ArrayLike<number>;
  /** Over the window, where they are not those of `values`: a ratio's mean is not that of its bins. */
  readonly mean?: number;
  readonly min?: number;
  readonly max?: number;
  /** Why it is not to be trusted. */
  readonly suspect?: string;
}

/** How lines are drawn. */
export interface ChartLook {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** Explanation in one sentence, for a newcomer. */
  readonly help: string;
  /** Such as `%`, `/s`, `W`; '' for bare numbers. */
  readonly unit: string;
  /** Lines are parts of a whole, drawn on top of each other. */
  readonly stacked?: boolean;
  /** Values hold until the next sample: drawn as steps. */
  readonly step?: boolean;
  /** Bins are things of their own, such as days: drawn as bars. Stacked ones only. */
  readonly bars?: boolean;
  /** Upper end of the scale; by default the largest value. */
  readonly most?: number;
  /** The kind of entity of a line: `PE`, `host`. */
  readonly of?: string;
}

/** A row per bin: its first and last second, then the lines' values; missing is empty. */
export function linesCsv(lines: readonly DrawnLine[], from: number, to: number): string {
  const count = lines[0]?.values.length ?? 0;
  const edge = (k: number) => String(Number((from + (k * (to - from)) / count).toPrecision(12)));
  const rows = [['from (s)', 'to (s)', ...lines.map(({ label }) => label)]];
  for (let k = 0; k < count; k++) {
    const values = lines.map(({ values: v }) => (Number.isNaN(v[k]) ? '' : String(v[k])));
    rows.push([edge(k), edge(k + 1), ...values]);
  }
  return rows.map((row) => `${row.map((cell) => csvText(cell)).join(',')}\r\n`).join('');
}

/** Sums from the first line up: the top of each part of a stack. NaN only where all parts are missing. */
export function tops(lines: readonly DrawnLine[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of lines) {
    const below = sums.at(-1);
    sums.push(
      Array.from(values, (value, k) => {
        const base = below?.[k] ?? Number.NaN;
        if (Number.isNaN(value)) return base;
        return (Number.isNaN(base) ? 0 : base) + value;
      }),
    );
  }
  return sums;
}

const WHOLE = 100;
const HEADROOM = 1.08;

/** Values that all but one of a hundred do not exceed decide a scale, where the highest is so many times as high. */
const SPIKE = 3;
const USUAL = 0.99;
/** Values from which on there is something usual. */
const ENOUGH = 100;

/** The highest that a scale should reach: one spike does not flatten all the rest. */
function highestOf(columns: readonly ArrayLike<number | null | undefined>[]): number {
  const values: number[] = [];
  for (const column of columns) {
    for (let k = 0; k < column.length; k++) {
      const value = column[k];
      if (typeof value === 'number' && value > 0) values.push(value);
    }
  }
  let top = 0;
  for (const value of values) if (value > top) top = value;
  if (values.length < ENOUGH) return top;
  const usual = Float64Array.from(values).sort()[Math.floor(USUAL * values.length)];
  return top > SPIKE * usual ? usual : top;
}

/** Top of a chart's scale. `whole`: as high as the highest value, whatever the others are. */
export function topOf(
  chart: ChartLook,
  columns: readonly ArrayLike<number | null | undefined>[],
  whole = false,
): number {
  if (chart.most !== undefined) return chart.most;
  if (chart.stacked && chart.unit === '%') return WHOLE;
  if (!whole && !chart.stacked) return headroom(chart, highestOf(columns));
  let top = 0;
  for (const column of columns) {
    for (let k = 0; k < column.length; k++) {
      const value = column[k];
      if (typeof value === 'number' && value > top) top = value;
    }
  }
  return headroom(chart, top);
}

const headroom = ({ unit }: ChartLook, top: number) =>
  Math.max(unit === '%' || unit === '/s' ? 1 : Number.MIN_VALUE, top * HEADROOM) || 1;
