/** Binned series. */
import { packBins } from '../binary.ts';
import {
  ApiError,
  BYTES,
  bytesAnswer,
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
    const facts = store.tables().find(({ name }) => name === table);
    if (facts === undefined) {
      throw new ApiError(400, `there is no table ${JSON.stringify(table)}: see /api/tables`);
    }
    const metrics = listOf(c, 'metric') ?? [];
    if (metrics.length === 0) {
      throw new ApiError(400, 'metric=… is missing: one, or several to be summed');
    }
    const wrong = metrics.find((key) => !facts.metrics.some((metric) => metric.key === key));
    if (wrong !== undefined) {
      throw new ApiError(400, `table ${table} has no metric ${JSON.stringify(wrong)}`);
    }
    const { from, to } = windowOf(c, facts);
    const bins = integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS);
    const entities = listOf(c, 'entities');
    const series = store.series(table, metrics, from, to, bins, entities) ?? [];
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

export const SERIES: readonly Route[] = [one];
