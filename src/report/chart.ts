/** What a chart is. */

export interface Series {
  readonly name: string;
  /** Points from left to right; null where nothing was measured. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
  /** Intervals around points, drawn as bars with the points marked. */
  readonly intervals?: readonly (readonly [x: number, low: number, high: number])[];
}

export interface LineChart {
  readonly kind: 'lines';
  readonly title: string;
  readonly unit: string;
  /** Unit of the other axis: `s` since the recording’s start; '' for virtual time. */
  readonly over: 's' | '';
  /** Name of the other axis, where it is neither seconds nor virtual time. */
  readonly along?: string;
  /** Words shown instead of numbers on the other axis: the first for 0, the next for 1. */
  readonly words?: readonly string[];
  readonly series: readonly Series[];
}

export interface BarChart {
  readonly kind: 'bars';
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

export type Chart = LineChart | BarChart;
