/** A sweep as a page: response curves, the means with their confidence intervals by each factor. */
import { escapeText } from '../../model/markup.ts';
import type { Row } from '../../model/row.ts';
import type { Chart, Series } from '../../report/chart.ts';
import { chartHtml, pageHtml, tableHtml } from '../../report/page-parts.ts';
import type { SweepPoint, SweepResult } from './sweep.ts';
import type { VariedValue } from './vary.ts';

/** Maximum number of curves in one chart; further ones are in the table. */
const MOST_CURVES = 8;

const distinct = (values: readonly VariedValue[]): VariedValue[] => {
  const all = [...new Set(values)];
  return all.every((value) => typeof value === 'number')
    ? all.sort((a, b) => Number(a) - Number(b))
    : all;
};

/** The values of a point other than `factor`, in words. */
const besides = ({ point }: SweepPoint, factor: string): string =>
  Object.entries(point)
    .filter(([name]) => name !== factor)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** The curves of `measure` along `factor`: one for each setting of the other factors. */
function curves(points: readonly SweepPoint[], factor: string, measure: string): Chart {
  const values = distinct(points.map(({ point }) => point[factor]));
  const isNumeric = values.every((value) => typeof value === 'number');
  const x = ({ point }: SweepPoint) =>
    isNumeric ? Number(point[factor]) : values.indexOf(point[factor]);
  const groups = new Map<string, SweepPoint[]>();
  for (const point of points) {
    const name = besides(point, factor);
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  const series = [...groups].slice(0, MOST_CURVES).map(([name, group]): Series => {
    const sorted = group
      .filter(({ measures }) => measures[measure] !== undefined)
      .sort((a, b) => x(a) - x(b));
    return {
      name: name === '' ? measure : name,
      points: sorted.map((one) => [x(one), one.measures[measure].mean]),
      intervals: sorted.flatMap((one) => {
        const { low, high } = one.measures[measure];
        return low === null || high === null ? [] : [[x(one), low, high] as const];
      }),
    };
  });
  const more =
    groups.size > MOST_CURVES
      ? ` (${MOST_CURVES} of ${groups.size} curves; the table has all)`
      : '';
  return {
    ...{ kind: 'lines', title: measure, unit: `by ${factor}${more}`, over: '', series },
    along: factor,
    ...(!isNumeric && { words: values.map(String) }),
  };
}

/** The table of all points: means and half-widths. */
function rowsOf(points: readonly SweepPoint[], measures: readonly string[]): Row[] {
  return points.map(({ point, replications, measures: known }) => ({
    ...point,
    runs: replications,
    ...Object.fromEntries(
      measures.flatMap((name) => {
        const one = known[name];
        const half = one === undefined || one.high === null ? null : one.high - one.mean;
        return [
          [name, one?.mean ?? null],
          [`± ${name}`, half],
        ];
      }),
    ),
  }));
}

/**
 * A sweep's response curves as one HTML page that needs nothing else: for each measure and each factor that has several values,
 * the means with their confidence intervals, a curve for each setting of the other factors; below, the numbers.
 * @param madeBy the words at the page's foot
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { sweep, sweepPage } from 'triscope/sim';
 *
 * const result = await sweep('queueing', {}, { vary: [{ name: 'end', values: [200, 400] }] });
 * writeFileSync('curves.html', sweepPage(result));
 * ```
 */
export function sweepPage(result: SweepResult, madeBy = 'triscope sim sweep'): string {
  const { model, confidence, method, points, complete } = result;
  const factors = Object.keys(points[0]?.point ?? {}).filter(
    (name) => distinct(points.map(({ point }) => point[name])).length > 1,
  );
  const measures = [...new Set(points.flatMap((one) => Object.keys(one.measures)))];
  const charts = measures.flatMap((measure) =>
    factors.map((factor) => chartHtml(curves(points, factor, measure))),
  );
  const percent = Number((confidence * 100).toPrecision(6));
  const lines = [
    `Means with their intervals of ${percent} % (${method}).`,
    ...(complete ? [] : ['The sweep is not complete: these are the runs known so far.']),
    ...(factors.length === 0 ? ['Nothing was varied: there is no curve to draw.'] : []),
  ];
  const body = `<h1>${escapeText(model)}: sweep</h1>
${lines.map((line) => `<p class="dim">${escapeText(line)}</p>`).join('\n')}
<div class="charts">${charts.join('\n')}</div>
<section><h2>Points</h2>${tableHtml(rowsOf(points, measures), 'Points')}</section>`;
  return pageHtml(`${model}: sweep`, body, madeBy);
}
