/** uPlot's options for a chart: crosshair, brush, colours from the style sheet. */
import type uPlot from 'uplot';
import { type Axis, STEPS_OF_TIME } from '../axis.ts';
import { short, withUnit } from '../figures.ts';
import { type ChartLook, type DrawnLine, topOf, tops } from './lines.ts';
import { css } from './svg.ts';

const COLOURS = 8;
/** Lines differ by dashes too, not by colour alone. */
export const DASHES: readonly number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

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
  chart: ChartLook,
  lines: readonly DrawnLine[],
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

/** Share of its place that a bar takes. */
export const BAR = 0.9;

/** Draws a series as bars as wide as its bins. */
const bars: uPlot.Series.PathBuilder = (plot, series, first, last) => {
  const xs = plot.data[0].map((x) => plot.valToPos(x, 'x', true));
  const wide = BAR * (xs.length > 1 ? xs[1] - xs[0] : plot.bbox.width);
  const bottom = plot.valToPos(0, 'y', true);
  const fill = new Path2D();
  for (let k = first; k <= last; k++) {
    const value = plot.data[series][k];
    if (typeof value !== 'number') continue;
    const top = plot.valToPos(value, 'y', true);
    fill.rect(xs[k] - wide / 2, top, wide, bottom - top);
  }
  return { fill };
};

export interface PlotEvents {
  /** A stretch of the axis was dragged over; with Shift held it is measured. */
  drag(from: number, to: number, shift: boolean): void;
  /** A button was pressed at a share of the width: true where dragging does not choose a stretch. */
  press(event: MouseEvent, plot: uPlot): boolean;
  reset(): void;
  /** The plot's field is there. */
  ready(plot: uPlot): void;
  /** The crosshair is at this axis value; null where it is nowhere. Only of the chart that is pointed at. */
  cursor(value: number | null): void;
}

export interface PlotTimes {
  /** Axis values at both ends. */
  window(): readonly [number, number];
  text(value: number, step: number): string;
  readonly hasTimes: boolean;
  /** Whether the axis counts seconds. */
  readonly inSeconds: boolean;
  /** Upper end of the scale; null: the largest value. */
  top(): number | null;
}

export function optionsFor(
  chart: ChartLook,
  labels: readonly string[],
  width: number,
  height: number,
  events: PlotEvents,
  times: PlotTimes,
): uPlot.Options {
  const { hasTimes } = times;
  const right = Number.parseInt(css('--edge'), 10);
  const figure = figureOf(chart.unit);
  const order = labels.map((_, k) => (chart.stacked ? labels.length - 1 - k : k));
  const axis = {
    stroke: () => css('--quiet'),
    grid: { stroke: () => css('--line'), width: 1 },
    ticks: { stroke: () => css('--line'), width: 1 },
    font: `11px ${css('--font')}`,
  };
  const top = (plot: uPlot) => times.top() ?? topOf(chart, plot.data.slice(1));
  let shift = false;
  return {
    width,
    height,
    padding: [8, right, 0, 0],
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
        mousedown: (plot, _, handle) => (event) => {
          shift = event.shiftKey;
          if (event.button !== 0 || !events.press(event, plot)) handle(event);
          return null;
        },
      },
    },
    scales: {
      x: { time: false, range: () => [...times.window()] as [number, number] },
      y: { range: (plot) => [0, top(plot)] },
    },
    axes: [
      {
        ...axis,
        size: hasTimes ? 28 : 8,
        ...(times.inSeconds && { incrs: [...STEPS_OF_TIME] }),
        // Figures of time keep apart, however long they are.
        space: () => {
          const [from, to] = times.window();
          return 18 + 7 * times.text(to, (to - from) / 10).length;
        },
        values: (plot, ticks, __, ___, step) => {
          const most = plot.bbox.width / devicePixelRatio + right;
          // One that would be cut off at the end is left out.
          const fits = (tick: number, text: string) =>
            plot.valToPos(tick, 'x') + 3.3 * text.length <= most;
          return ticks.map((tick) => {
            const text = hasTimes ? times.text(tick, step) : '';
            return fits(tick, text) ? text : '';
          });
        },
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
          ? { fill: () => colourOf(k), width: 0, ...(chart.bars && { paths: bars }) }
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
          events.ready(plot);
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 3) return;
          events.drag(plot.posToVal(left, 'x'), plot.posToVal(left + wide, 'x'), shift);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
