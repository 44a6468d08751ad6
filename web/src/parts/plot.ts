/** uPlot's options for a chart: crosshair, brush, colours from the style sheet. */
import type uPlot from 'uplot';
import type { Axis } from '../axis.ts';
import { short, withUnit } from '../figures.ts';
import { type Chart, type Line, tops } from './lines.ts';
import { css } from './svg.ts';

const COLOURS = 8;
/** Lines differ by dashes too, not by colour alone. */
export const DASHES: readonly number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const RIGHT = 12;
const WHOLE = 100;
const HEADROOM = 1.08;

export const colourOf = (k: number): string => css(`--c${k % COLOURS}`);

/** How values of a unit are written. */
export const figureOf =
  (unit: string): ((value: number) => string) =>
  (value) =>
    unit === '/s' ? `${short(value)}/s` : withUnit(value, unit);

const gaps = (values: ArrayLike<number>) =>
  Array.from(values, (value) => (Number.isNaN(value) ? null : value));

/** Columns for uPlot: the bins' middles on the axis, then the lines; of a stack the topmost first, painted over by the rest. */
export function dataOf(
  chart: Chart,
  lines: readonly Line[],
  from: number,
  to: number,
  axis: Axis,
): uPlot.AlignedData {
  const count = lines[0]?.values.length ?? 0;
  const times = Array.from({ length: count }, (_, k) =>
    axis.of(from + ((k + 0.5) * (to - from)) / count),
  );
  const columns = chart.stacked ? tops(lines).reverse() : lines.map(({ values }) => values);
  return [times, ...columns.map(gaps)] as uPlot.AlignedData;
}

/** Top of a chart's scale. */
export function topOf(chart: Chart, columns: readonly ArrayLike<number>[]): number {
  if (chart.most !== undefined) return chart.most;
  if (chart.stacked && chart.unit === '%') return WHOLE;
  let top = 0;
  for (const column of columns) {
    for (let k = 0; k < column.length; k++) if (column[k] > top) top = column[k];
  }
  return headroom(chart, top);
}

const headroom = ({ unit }: Chart, top: number) =>
  Math.max(unit === '%' || unit === '/s' ? 1 : Number.MIN_VALUE, top * HEADROOM) || 1;

export interface PlotEvents {
  /** A stretch of the axis was brushed. */
  brush(from: number, to: number): void;
  reset(): void;
  /** The crosshair is at this axis value; null where it is nowhere. Only of the chart that is pointed at. */
  cursor(value: number | null): void;
}

export interface PlotTimes {
  /** Axis values at both ends. */
  window(): readonly [number, number];
  text(value: number, step: number): string;
  readonly hasTimes: boolean;
}

export function optionsFor(
  chart: Chart,
  labels: readonly string[],
  width: number,
  height: number,
  events: PlotEvents,
  times: PlotTimes,
): uPlot.Options {
  const { hasTimes } = times;
  const figure = figureOf(chart.unit);
  const order = labels.map((_, k) => (chart.stacked ? labels.length - 1 - k : k));
  const axis = {
    stroke: () => css('--quiet'),
    grid: { stroke: () => css('--line'), width: 1 },
    ticks: { stroke: () => css('--line'), width: 1 },
    font: `11px ${css('--font')}`,
  };
  const top = (most: number | null) =>
    chart.most ??
    (chart.stacked && chart.unit === '%' ? WHOLE : headroom(chart, Math.max(0, most ?? 0)));
  return {
    width,
    height,
    padding: [8, RIGHT, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { show: !chart.stacked, size: 6 },
      bind: {
        dblclick: () => () => {
          events.reset();
          return null;
        },
      },
    },
    scales: {
      x: { time: false, range: () => [...times.window()] as [number, number] },
      y: { range: (_, __, most) => [0, top(most)] },
    },
    axes: [
      {
        ...axis,
        size: hasTimes ? 28 : 8,
        // Figures of time keep apart, however long they are.
        space: () => {
          const [from, to] = times.window();
          return 18 + 7 * times.text(to, (to - from) / 10).length;
        },
        values: (_, ticks, __, ___, step) =>
          ticks.map((tick) => (hasTimes ? times.text(tick, step) : '')),
      },
      {
        ...axis,
        size: Number.parseInt(css('--gutter'), 10),
        values: (_, ticks) => ticks.map(figure),
      },
    ],
    series: [
      {},
      ...order.map((k) => ({
        label: labels[k],
        stroke: () => colourOf(k),
        ...(chart.stacked
          ? { fill: () => colourOf(k), width: 0 }
          : { width: 1.6, dash: DASHES[k % DASHES.length] }),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          if (!plot.over.matches(':hover')) return;
          const { left } = plot.cursor;
          events.cursor(left === undefined || left < 0 ? null : plot.posToVal(left, 'x'));
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('mouseleave', () => events.cursor(null));
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 3) return;
          events.brush(plot.posToVal(left, 'x'), plot.posToVal(left + wide, 'x'));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
