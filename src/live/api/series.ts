/** Binned series. */
import { joinParts, packBins } from '../../view/binary.ts';
import type { SeriesStore } from '../../view/series/store.ts';
import { inTurns } from '../net/shared-work.ts';
import {
  ApiError,
  BYTES,
  bytesAnswer,
  CELL_BYTES,
  CELL_TEXT_BYTES,
  fits,
  integerOf,
  listOf,
  type Route,
  WINDOW,
  wantsBytes,
  windowOf,
} from './route.ts';

const MOST_BINS = 10_000;
const DEFAULT_BINS = 600;

/** NaN, which JSON lacks, as null. */
const plain = (column: Float32Array) => Array.from(column, (v) => (Number.isNaN(v) ? null : v));

/** First and last second of a table. @throws ApiError where it, or one of the metrics, is not there */
function spanFor(
  store: SeriesStore,
  table: string,
  metrics: readonly string[],
): { readonly from: number; readonly to: number } {
  const found = store.table(table);
  const span = found?.span ?? null;
  if (found === undefined || span === null) {
    throw new ApiError(400, `there is no table ${JSON.stringify(table)}: see /api/tables`);
  }
  if (metrics.length === 0) {
    throw new ApiError(400, 'metric=… is missing: one, or several to be summed');
  }
  const wrong = metrics.find((key) => !found.keys.includes(key));
  if (wrong !== undefined) {
    throw new ApiError(400, `table ${table} has no metric ${JSON.stringify(wrong)}`);
  }
  return { from: span[0], to: span[1] };
}

const one: Route = {
  method: 'get',
  path: '/series',
  summary: 'Least, most and mean of a sum of metrics, per bin and entity',
  parameters: [
    { name: 'table', help: 'one of /api/tables', schema: { type: 'string' }, required: true },
    {
      name: 'metric',
      help: 'one, or several to be summed, separated by commas',
      schema: { type: 'string' },
      required: true,
    },
    ...WINDOW,
    {
      name: 'bins',
      help: `${DEFAULT_BINS} where it is not given`,
      schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
    },
    {
      name: 'entities',
      help: 'some of the table’s, separated by commas; all where it is not given',
      schema: { type: 'string' },
    },
  ],
  gives:
    'min, max, mean per entity, null where nothing was measured; as bytes where those are accepted: u32 length of a JSON head, the head, then f32 columns, little endian',
  types: ['application/json', BYTES],
  answer: async (c, context) => {
    const { store } = await context.shown(c);
    const table = c.req.query('table') ?? '';
    const metrics = listOf(c, 'metric') ?? [];
    const { from, to } = windowOf(c, spanFor(store, table, metrics));
    const bins = integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS);
    const entities = listOf(c, 'entities');
    const count = entities?.length ?? store.table(table)?.entities.length ?? 0;
    fits(count * bins, wantsBytes(c) ? CELL_BYTES : CELL_TEXT_BYTES, context.limits);
    const steps = store.seriesSteps(table, metrics, from, to, bins, entities);
    const series = (await inTurns(steps, context.signal)) ?? [];
    if (wantsBytes(c)) return bytesAnswer(c, packBins(from, to, bins, series));
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
  },
};

/** Sums of an answer, at most. */
const MOST_SUMS = 64;

const several: Route = {
  method: 'get',
  path: '/series/several',
  summary:
    'Several sums of metrics over one window, as /series gives each: one answer for a page of charts',
  parameters: [
    {
      name: 'sums',
      help: `TABLE:METRIC,METRIC;TABLE:METRIC…, at most ${MOST_SUMS}`,
      schema: { type: 'string' },
      required: true,
    },
    ...WINDOW.map((parameter) => ({ ...parameter, required: true as const })),
    {
      name: 'bins',
      help: `${DEFAULT_BINS} where it is not given`,
      schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
    },
  ],
  gives:
    'per sum u32 length of its bytes, little endian, and the bytes, which are those of /series',
  types: [BYTES],
  answer: async (c, context) => {
    const { store } = await context.shown(c);
    const sums = (c.req.query('sums') ?? '').split(';').filter(Boolean);
    if (sums.length === 0 || sums.length > MOST_SUMS) {
      throw new ApiError(400, `sums=… must be 1 to ${MOST_SUMS} of TABLE:METRIC,METRIC`);
    }
    const { from, to } = windowOf(c, { from: Number.NaN, to: Number.NaN });
    const bins = integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS);
    const asked = sums.map((sum) => {
      const [table, keys = ''] = sum.split(':');
      const metrics = keys.split(',').filter(Boolean);
      spanFor(store, table, metrics);
      return { table, metrics };
    });
    const entities = asked.map(({ table }) => store.table(table)?.entities.length ?? 0);
    fits(entities.reduce((a, b) => a + b, 0) * bins, CELL_BYTES, context.limits);
    const parts: Uint8Array[] = [];
    for (const { table, metrics } of asked) {
      const steps = store.seriesSteps(table, metrics, from, to, bins);
      parts.push(packBins(from, to, bins, (await inTurns(steps, context.signal)) ?? []));
    }
    return bytesAnswer(c, joinParts(parts));
  },
};

export const SERIES: readonly Route[] = [one, several];
