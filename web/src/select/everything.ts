/** Numbers of all that a stretch of time covers: each metric of each entity, and the time in each region. */
import { HASH_UNMARKED } from '../../../src/model/region-hash.ts';
import type { LanesFacts, RegionFacts } from '../../../src/view/facts/regions.ts';
import { kindOf } from '../../../src/view/series/table.ts';
import type { Page } from '../page.svelte.ts';
import type { PageSource } from '../source.ts';
import { type SelectedMetric, statisticsOf } from './statistics.ts';

/** Pieces of the stretch of which percentiles are made. */
export const BINS = 200;
/** Series that are asked for at once: as many as a request may hold, and a table's memory allows. */
const AT_ONCE = 48;
const MOST_SERIES = 2000;
/** Of more entities one metric at a time is asked for. */
const MOST_ENTITIES = 512;
/** Number of bins of lanes: if there are more visits, they are not distinguished. */
const LANE_BINS = 2000;
const MOST_HOSTS = 8;

export interface Everything {
  readonly measured: readonly SelectedMetric[];
  /** Data that are left out, and why. */
  readonly left: readonly string[];
}

async function metrics(page: Page, source: PageSource, from: number, to: number) {
  const measured: SelectedMetric[] = [];
  const left: string[] = [];
  const inReach = page.tables.filter((table) => table.from <= to && table.to >= from);
  for (const table of inReach.toSorted((a, b) => rankOf(a.name) - rankOf(b.name))) {
    const count = table.entities.length;
    if (count > MOST_ENTITIES) {
      left.push(`${table.name} has ${count} rows of each metric: choose one of its metrics`);
      continue;
    }
    const step = Math.max(1, Math.min(AT_ONCE, Math.floor(MOST_SERIES / Math.max(1, count))));
    for (let first = 0; first < table.metrics.length; first += step) {
      const some = table.metrics.slice(first, first + step);
      const answers = await Promise.all(
        some.map(({ key }) => source.series(table.name, [key], from, to, BINS)),
      );
      some.forEach((metric, k) => {
        const isCounter = kindOf(metric) === 'rate';
        for (const one of statisticsOf(answers[k], from, to, isCounter)) {
          const isKnown = !Number.isNaN(one.mean);
          const what = `${table.name}.${metric.key}`;
          if (isKnown) measured.push({ ...one, what, unit: metric.unit, isCounter });
        }
      });
    }
  }
  return { measured, left };
}

/** The simulation first, then the run's processes and threads, then its machine. */
const ORDER = ['ross_pe', 'ross', 'sim', 'process', 'node'];
function rankOf(name: string): number {
  const place = ORDER.findIndex((begin) => name.startsWith(begin));
  return place < 0 ? ORDER.length : place;
}

/** Seconds in each region, of each process or CPU: exact, or absent. */
async function regions(page: Page, source: PageSource, from: number, to: number) {
  const measured: SelectedMetric[] = [];
  const left: string[] = [];
  if (page.facts?.tables?.some((name) => /^geopm_(profile_)?trace$/.test(name)) !== true)
    return { measured, left };
  const known = await source.json<RegionFacts>('regions');
  const names = new Map(known.names);
  const exact = new Set(known.profiles.map(({ host }) => host));
  const hosts = [...new Set([...exact, ...known.traces.map(({ host }) => host)])];
  for (const host of hosts.slice(0, MOST_HOSTS)) {
    const route = exact.has(host) ? 'regions/processes' : 'regions/lanes';
    const { lanes } = await source.json<LanesFacts>(route, { host, from, to, bins: LANE_BINS });
    for (const { name, spans } of lanes) {
      const entity = hosts.length > 1 ? `${name} on ${host}` : name;
      const there = spans.filter(({ hash }) => hash !== 0);
      if (there.some(({ share }) => share < 1)) {
        left.push(`regions of ${entity}: too many visits to tell apart; measure a shorter stretch`);
        continue;
      }
      const seconds = new Map<number, number>();
      for (const span of there) {
        const inside = Math.min(span.to, to) - Math.max(span.from, from);
        if (inside > 0) seconds.set(span.hash, (seconds.get(span.hash) ?? 0) + inside);
      }
      for (const [hash, total] of seconds) {
        const what =
          hash === HASH_UNMARKED ? 'no region' : (names.get(hash) ?? `0x${hash.toString(16)}`);
        measured.push(inRegion(`in ${what}`, entity, total, to - from));
      }
    }
  }
  return { measured, left };
}

const inRegion = (what: string, entity: string, total: number, long: number): SelectedMetric => ({
  ...{ what, entity, unit: 's', isCounter: true, total, mean: total / long, share: total / long },
  ...{ least: Number.NaN, most: Number.NaN },
  ...{ p10: Number.NaN, median: Number.NaN, p90: Number.NaN },
});

/** @throws Error with the server's words */
export async function everything(
  page: Page,
  source: PageSource,
  from: number,
  to: number,
): Promise<Everything> {
  const inside = await regions(page, source, from, to);
  const counted = await metrics(page, source, from, to);
  return {
    measured: [...counted.measured, ...inside.measured],
    left: [...counted.left, ...inside.left],
  };
}
