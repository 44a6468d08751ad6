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
  /** What the other axis is, where it is neither. */
  readonly along?: string;
  /** Words in the place of numbers of the other axis: the first is 0, the next 1. */
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
