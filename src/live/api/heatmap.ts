/** Metrics over entities and time; what PEs spend their time on. */

import { breakdownOf } from '../../view/simulation/breakdown.ts';
import { type Heat, type HeatAsk, heatMetrics, heatOf } from '../../view/simulation/heat.ts';
import { ORDERS, type Order, ordered } from '../../view/simulation/order.ts';
import { pack } from '../../view/simulation/packed.ts';
import { inTurns } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { LEVEL, levelOf, pathOf, simulationWindow, WITHIN, wordOf } from './entity-query.ts';
import {
  type ApiContext,
  ApiError,
  BYTES,
  bytesAnswer,
  fits,
  integerOf,
  type Route,
  WINDOW,
} from './route.ts';

const MOST_BINS = 4000;
const DEFAULT_BINS = 600;
/** Bytes of a cell while it is worked out: see gridOf. */
const HEAT_CELL_BYTES = 32;
/** Heatmaps kept of each recording: going back to one costs nothing. */
const MOST_KEPT = 16;

/** Notes on samples that were not written, or lost. */
const LOSS = /were not written|are missing/;

const kept = new WeakMap<Shown, Map<string, Heat>>();

/** @throws ApiError */
async function heatFor(
  shown: Shown,
  ask: HeatAsk,
  order: Order,
  { limits, signal }: Pick<ApiContext, 'limits' | 'signal'>,
): Promise<Heat> {
  let cache = kept.get(shown);
  if (cache === undefined) {
    cache = new Map();
    kept.set(shown, cache);
  }
  const key = JSON.stringify([ask, order]);
  let heat = cache.get(key);
  if (heat === undefined) {
    const steps = heatOf(shown.store, ask, (cells) => fits(cells, HEAT_CELL_BYTES, limits));
    const made = await inTurns(steps, signal);
    if (made === null) {
      throw new ApiError(
        400,
        `no ${ask.level} has ${JSON.stringify(ask.metric)}: see /api/heatmap/metrics`,
      );
    }
    heat = await inTurns(ordered(made, order), signal);
    const [oldest] = cache.keys();
    if (cache.size >= MOST_KEPT && oldest !== undefined) cache.delete(oldest);
    cache.set(key, heat);
  }
  return heat;
}

const heatmap: Route = {
  method: 'get',
  path: '/heatmap',
  summary: 'A metric over PEs, KPs or LPs and time',
  parameters: [
    {
      name: 'metric',
      help: 'one of /api/heatmap/metrics',
      schema: { type: 'string' },
      required: true,
    },
    LEVEL,
    WITHIN,
    ...WINDOW,
    {
      name: 'bins',
      help: `${DEFAULT_BINS} where it is not given`,
      schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
    },
    {
      name: 'sort',
      help: 'order of rows: id (where it is not given), value (highest first), similar (each beside the one most like it)',
      schema: { type: 'string', enum: ORDERS },
    },
  ],
  gives:
    'u32 length of a JSON head (rows, unit, table, columns), the head, then f32 columns: values row by row (NaN: not measured), totals and measured seconds by row, doubtful (1: records before were lost); little endian',
  types: [BYTES],
  answer: async (c, context) => {
    const shown = await context.shown(c);
    const metric = c.req.query('metric') ?? '';
    if (metric === '') throw new ApiError(400, 'metric=… is missing: see /api/heatmap/metrics');
    const doubt = shown.facts.notes.find((note) => LOSS.test(note)) ?? '';
    const ask: HeatAsk = {
      level: levelOf(c),
      metric,
      within: pathOf(c, 'within'),
      ...(await simulationWindow(c, shown, context.signal)),
      bins: integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS),
      lossy: doubt !== '',
    };
    const heat = await heatFor(shown, ask, wordOf(c, 'sort', ORDERS), context);
    const { values, totals, seconds, doubtful, ...head } = heat;
    return bytesAnswer(c, pack({ ...head, doubt }, { values, totals, seconds, doubtful }));
  },
};

const metrics: Route = {
  method: 'get',
  path: '/heatmap/metrics',
  summary: 'What a heatmap can show of PEs, KPs or LPs',
  parameters: [LEVEL],
  gives: 'key, unit and a sentence each; shares that are worked out from two counters first',
  answer: async (c, context) => {
    const { store } = await context.shown(c);
    return c.json(await inTurns(heatMetrics(store, levelOf(c)), context.signal));
  },
};

const breakdown: Route = {
  method: 'get',
  path: '/breakdown',
  summary: 'What each PE spent its time on',
  parameters: WINDOW,
  gives:
    'activities, and for each PE its seconds in them, and the rest: waiting and not timed; null where no times were recorded',
  answer: async (c, context) => {
    const shown = await context.shown(c);
    const { from, to } = await simulationWindow(c, shown, context.signal);
    return c.json(await inTurns(breakdownOf(shown.store, from, to), context.signal));
  },
};

export const HEATMAP: readonly Route[] = [heatmap, metrics, breakdown];
