/** uPlot's options for a chart: shared crosshair, brush, colours from the style sheet. */
import type uPlot from 'uplot';
import type { ChartSpec, Line } from './charts.ts';
import { percent, short } from './figures.ts';

const COLOURS = 8;
/** Lines differ by dashes too, not by colour alone. */
export const DASHES: readonly number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const SYNC = 'time';
const AXIS_WIDTH = 56;
const RIGHT = 12;
const WHOLE = 100;
const HEADROOM = 1.08;

const css = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const colourOf = (k: number): string => css(`--c${k % COLOURS}`);

/** Sums from the first line up: the top of each part of a stack. NaN only where all parts are missing. */
function tops(lines: readonly Line[]): number[][] {
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

const gaps = (values: ArrayLike<number>) =>
  Array.from(values, (value) => (Number.isNaN(value) ? null : value));

/** Columns for uPlot: times of the bins' middles, then the lines; of a stack the topmost first, painted over by the rest. */
export function dataOf(
  spec: ChartSpec,
  lines: readonly Line[],
  from: number,
  to: number,
): uPlot.AlignedData {
  const count = lines[0]?.values.length ?? 0;
  const times = Array.from({ length: count }, (_, k) => from + ((k + 0.5) * (to - from)) / count);
  const columns = spec.stacked ? tops(lines).reverse() : lines.map(({ values }) => values);
  return [times, ...columns.map(gaps)] as uPlot.AlignedData;
}

export interface PlotEvents {
  /** A stretch of time was brushed. */
  brush(from: number, to: number): void;
  reset(): void;
  /** The crosshair is at bin `index`, here or in another chart; null where it is in none. */
  cursor(index: number | null): void;
}

export function optionsFor(
  spec: ChartSpec,
  labels: readonly string[],
  width: number,
  height: number,
  events: PlotEvents,
  /** Seconds that the time axis shows. */
  window: () => readonly [number, number],
  /** Whether the time axis has figures: not in charts that stand above another of their lane. */
  hasTimes: boolean,
): uPlot.Options {
  const figure = (value: number) => (spec.unit === '%' ? percent(value) : short(value));
  const order = labels.map((_, k) => (spec.stacked ? labels.length - 1 - k : k));
  const axis = {
    stroke: () => css('--quiet'),
    grid: { stroke: () => css('--line'), width: 1 },
    ticks: { stroke: () => css('--line'), width: 1 },
    font: `11px ${css('--font')}`,
  };
  return {
    width,
    height,
    padding: [8, RIGHT, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: SYNC, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      points: { show: !spec.stacked, size: 6 },
      bind: {
        dblclick: () => () => {
          events.reset();
          return null;
        },
      },
    },
    scales: {
      x: { time: false, range: () => [...window()] as [number, number] },
      y: { range: (_, __, top) => [0, spec.stacked ? WHOLE : Math.max(1, (top ?? 0) * HEADROOM)] },
    },
    axes: [
      {
        ...axis,
        size: hasTimes ? 28 : 8,
        values: (_, ticks) => ticks.map((t) => (hasTimes ? `${Number(t.toFixed(6))} s` : '')),
      },
      { ...axis, size: AXIS_WIDTH, values: (_, ticks) => ticks.map(figure) },
    ],
    series: [
      {},
      ...order.map((k) => ({
        label: labels[k],
        stroke: () => colourOf(k),
        ...(spec.stacked
          ? { fill: () => colourOf(k), width: 0 }
          : { width: 1.6, dash: DASHES[k % DASHES.length] }),
        points: { show: false },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [(plot) => events.cursor(plot.cursor.idx ?? null)],
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
