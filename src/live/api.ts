/** The routes under /api/: facts, tables, binned series. */
import { Hono } from 'hono';
import { packBins } from './binary.ts';
import type { Facts } from './facts.ts';
import { type SeriesSource, SeriesStore } from './series/store.ts';

/** What the routes tell of. */
export interface Shown {
  readonly facts: Facts;
  readonly source: SeriesSource;
  /** Whether samples come as they are taken, by WebSocket. */
  readonly live: boolean;
}

const MOST_BINS = 10_000;
const DEFAULT_BINS = 600;

/** What a query asks for, or a line that says what is wrong with it. */
interface SeriesQuery {
  readonly table: string;
  readonly metrics: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  readonly entities: readonly string[] | undefined;
}

function readQuery(query: Readonly<Record<string, string>>, source: SeriesSource) {
  const { table = '', metric = '', entities } = query;
  const facts = source.tables().find(({ name }) => name === table);
  if (facts === undefined) return `there is no table ${JSON.stringify(table)}: see /api/tables`;
  const metrics = metric.split(',').filter(Boolean);
  const wrong = metrics.find((key) => !facts.metrics.some((m) => m.key === key));
  if (metrics.length === 0) return 'metric=… is missing: one, or several to be summed';
  if (wrong !== undefined) return `table ${table} has no metric ${JSON.stringify(wrong)}`;
  const from = Number(query.from ?? facts.from);
  const to = Number(query.to ?? facts.to);
  if (!(Number.isFinite(from) && Number.isFinite(to) && from < to)) {
    return 'from=… and to=… must be seconds, from before to';
  }
  const bins = Number(query.bins ?? DEFAULT_BINS);
  if (!Number.isInteger(bins) || bins < 1 || bins > MOST_BINS) {
    return `bins=… must be 1 to ${MOST_BINS}`;
  }
  return { table, metrics, from, to, bins, entities: entities?.split(',') } satisfies SeriesQuery;
}

/** NaN, which JSON lacks, as null. */
const plain = (column: Float32Array) => Array.from(column, (v) => (Number.isNaN(v) ? null : v));

/** `now`: what there is to show at the time of a request. */
export function api(now: () => Promise<Shown>): Hono {
  const routes = new Hono();
  routes.get('/facts', async (c) => {
    const { facts, live } = await now();
    return c.json({ ...facts, live });
  });
  routes.get('/tables', async (c) => c.json((await now()).source.tables()));
  routes.get('/series', async (c) => {
    const { source } = await now();
    const query = readQuery(c.req.query(), source);
    if (typeof query === 'string') return c.json({ error: query }, 400);
    const { table, metrics, from, to, bins, entities } = query;
    const series = source.series(table, metrics, from, to, bins, entities) ?? [];
    if ((c.req.header('accept') ?? '').includes('application/octet-stream')) {
      return c.body(packBins(from, to, bins, series), 200, {
        'Content-Type': 'application/octet-stream',
      });
    }
    return c.json({
      from,
      to,
      bins,
      entities: series.map(({ entity, min, max, mean }) => ({
        entity,
        min: plain(min),
        max: plain(max),
        mean: plain(mean),
      })),
    });
  });
  routes.notFound((c) =>
    c.json({ error: 'no such thing: /api/facts, /api/tables, /api/series' }, 404),
  );
  return routes;
}

export const EMPTY: SeriesSource = new SeriesStore();
