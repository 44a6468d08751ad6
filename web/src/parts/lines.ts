/** Lines over time, and what their CSV holds. */
import { csvCell } from './csv.ts';

export interface Line {
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
export interface Chart {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** What it means, in one sentence for a newcomer. */
  readonly help: string;
  /** Such as `%`, `/s`, `W`; '' for bare numbers. */
  readonly unit: string;
  /** Lines are parts of a whole, drawn on top of each other. */
  readonly stacked?: boolean;
  /** Values hold until the next sample: drawn as steps. */
  readonly step?: boolean;
  /** Highest value of the scale; not given: what is there. */
  readonly most?: number;
  /** What a line is: `PE`, `host`. */
  readonly of?: string;
}

/** A row per bin: its first and last second, then the lines' values; missing is empty. */
export function linesCsv(lines: readonly Line[], from: number, to: number): string {
  const count = lines[0]?.values.length ?? 0;
  const edge = (k: number) => String(Number((from + (k * (to - from)) / count).toPrecision(12)));
  const rows = [['from (s)', 'to (s)', ...lines.map(({ label }) => label)]];
  for (let k = 0; k < count; k++) {
    const values = lines.map(({ values: v }) => (Number.isNaN(v[k]) ? '' : String(v[k])));
    rows.push([edge(k), edge(k + 1), ...values]);
  }
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

/** Sums from the first line up: the top of each part of a stack. NaN only where all parts are missing. */
export function tops(lines: readonly Line[]): number[][] {
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
