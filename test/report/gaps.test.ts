/** Where nothing was measured, nothing is drawn. */
import { expect, it } from 'vitest';
import { withGaps } from '../../src/report/charts.ts';
import { svgOf } from '../../src/report/svg.ts';

it('a stretch without points is a gap of its own length, in lines as in courses', () => {
  const points = [0, 1, 2, 8, 9, 10].map((x) => [x, 5] as const);
  const { points: all } = withGaps({ name: 'PE 0', points });
  expect(all.map(([x]) => x)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(all.filter(([, y]) => y === null).map(([x]) => x)).toEqual([3, 4, 5, 6, 7]);
  const chart = { kind: 'lines', title: 'Events', unit: '1/s', over: 's' } as const;
  const path = /<path class="line c0" d="([^"]*)"/.exec(
    svgOf({ ...chart, series: [{ name: 'PE 0', points: all }] }),
  );
  expect(path?.[1].match(/M/g)).toHaveLength(2);
});

it('points that are a little uneven have no gap between them', () => {
  const points = [0, 1, 3, 4, 7].map((x) => [x, 1] as const);
  expect(withGaps({ name: 'a', points }).points).toEqual(points);
});
