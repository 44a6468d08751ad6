/** Numbers of a stretch of time, by entity. Pure. */
import type { EntityBins } from '../../../src/view/series/table.ts';
import { leastOf, meanOf, mostOf, short, withUnit } from '../figures.ts';
import type { ShownTable } from '../parts/table.ts';

export interface SelectedStatistics {
  readonly entity: string;
  /** Over the part that was measured; of a counter per second. */
  readonly mean: number;
  /** The amount counted in it; null for metrics that are not counters. */
  readonly total: number | null;
  /** Its part of what all counted, 0 to 1. */
  readonly share: number | null;
  readonly least: number;
  readonly most: number;
  /** Values that a tenth, half, nine tenths of the stretch's pieces do not exceed. */
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
}

function quantile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** `isCounter`: bins hold amounts per second. `series`: bins of [from, to) seconds. */
export function statisticsOf(
  series: readonly EntityBins[],
  from: number,
  to: number,
  isCounter: boolean,
): SelectedStatistics[] {
  const known = series.map(({ entity, mean, min, max }) => {
    const there = Float64Array.from(mean).filter((value) => !Number.isNaN(value));
    const seconds = mean.length === 0 ? 0 : (there.length * (to - from)) / mean.length;
    const average = meanOf(there);
    const sorted = there.toSorted();
    return {
      ...{ entity, mean: average, least: leastOf(min), most: mostOf(max) },
      total: isCounter && there.length > 0 ? average * seconds : null,
      p10: quantile(sorted, 0.1),
      median: quantile(sorted, 0.5),
      p90: quantile(sorted, 0.9),
    };
  });
  const all = known.reduce((sum, { total }) => sum + (total ?? 0), 0);
  return known.map((one) => ({
    ...one,
    share: one.total === null || !(all > 0) ? null : one.total / all,
  }));
}

/** Statistics of one metric among all. */
export interface SelectedMetric extends SelectedStatistics {
  /** The metric, or the activity for times. */
  readonly what: string;
  readonly unit: string;
  readonly isCounter: boolean;
}

const perSecond = (unit: string): string => `${unit.replace(/[{}]/g, '')}/s`;

/** All metrics of all entities whose names contain all the words. */
export function everythingTable(measured: readonly SelectedMetric[], words: string): ShownTable {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = measured.filter(({ what, entity }) => {
    const text = `${what} ${entity}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const number = (key: string, title: string, help: string) => ({
    key,
    title,
    help,
    figure: short,
  });
  return {
    columns: [
      { key: 'what', title: 'metric' },
      { key: 'entity', title: 'of' },
      number('mean', 'mean', 'over the measured part of the time span; of counts, per second'),
      { key: 'unit', title: 'unit' },
      number('total', 'total', 'counted in the time span'),
      {
        ...{ key: 'share', title: 'share', unit: '%', bar: true },
        help: 'of the sum over all entities; of time in a region, of the time span',
        figure: (value: number) => value.toFixed(1),
      },
      number('least', 'least', 'of single samples'),
      number('p10', '10 %', 'a tenth of the time span was below'),
      number('median', 'median', 'half of the time span was below'),
      number('p90', '90 %', 'nine tenths of the time span were below'),
      number('most', 'most', 'of single samples'),
    ],
    rows: rows.map(({ share, unit, isCounter, ...one }) => ({
      id: `${one.what} ${one.entity}`,
      cells: {
        ...one,
        unit: isCounter ? perSecond(unit) : unit.replace(/[{}]/g, ''),
        share: share === null ? null : 100 * share,
      },
    })),
  };
}

/** `of`: what an entity is, such as `PE`. */
export function statisticsTable(
  found: readonly SelectedStatistics[],
  of: string,
  unit: string,
  isCounter: boolean,
): ShownTable {
  const figure = (value: number) => (isCounter ? short(value) : withUnit(value, unit));
  const rate = isCounter ? perSecond(unit) : '';
  const column = (key: string, title: string, help: string) => ({
    ...{ key, title, help, figure },
    ...(rate !== '' && { unit: rate }),
  });
  const counted = isCounter
    ? [
        {
          key: 'total',
          title: 'total',
          help: 'counted in the time span',
          figure: short,
          bar: true,
        },
        {
          key: 'share',
          title: 'share',
          unit: '%',
          help: 'of the sum over all entities',
          figure: (value: number) => value.toFixed(1),
        },
      ]
    : [];
  return {
    columns: [
      { key: 'entity', title: of },
      { ...column('mean', 'mean', 'over the measured part of the time span'), bar: true },
      ...counted,
      column('least', 'least', 'of single samples'),
      column('p10', '10 %', 'a tenth of the time span was below'),
      column('median', 'median', 'half of the time span was below'),
      column('p90', '90 %', 'nine tenths of the time span were below'),
      column('most', 'most', 'of single samples'),
    ],
    rows: found.map(({ share, ...one }) => ({
      id: one.entity,
      cells: { ...one, share: share === null ? null : 100 * share },
    })),
  };
}
