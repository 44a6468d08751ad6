/** The trace of events: how many where, single ones, rollbacks beside them. */
import { densityOf, listOf } from '../../view/simulation/event-view.ts';
import { pack } from '../../view/simulation/packed.ts';
import { rollbacksIn } from '../../view/simulation/rollback-view.ts';
import { inTurns } from '../net/shared-work.ts';
import { tracesOf, undoneOf } from '../simulation/served.ts';
import { LEVEL, levelOf, pathOf, simulationWindow, WITHIN } from './entity-query.ts';
import {
  BYTES,
  bytesAnswer,
  fits,
  integerOf,
  type Parameter,
  type Route,
  WINDOW,
} from './route.ts';

const MOST_BINS = 4000;
const DEFAULT_BINS = 600;
const MOST_SINGLE = 10_000;
/** Bytes of a cell, and of its copy in the answer. */
const DENSITY_CELL_BYTES = 8;

const SENDER: Parameter = {
  name: 'sender',
  help: 'path of an entity: only what it, or its parts, sent',
  schema: { type: 'string' },
};

export const EVENTS: readonly Route[] = [
  {
    method: 'get',
    path: '/events/density',
    summary: 'Traced events handled, by entity and time',
    parameters: [
      LEVEL,
      WITHIN,
      SENDER,
      ...WINDOW,
      {
        name: 'bins',
        help: `${DEFAULT_BINS} where it is not given`,
        schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
      },
    ],
    gives:
      'u32 length of a JSON head (rows, total in the window, all of the trace), the head, then f32 counts row by row; little endian',
    types: [BYTES],
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const ask = {
        level: levelOf(c),
        within: pathOf(c, 'within'),
        sender: pathOf(c, 'sender'),
        ...(await simulationWindow(c, shown, context.signal)),
        bins: integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS),
      };
      const { events, places } = await tracesOf(shown, context.signal);
      const roomFor = (cells: number) => fits(cells, DENSITY_CELL_BYTES, context.limits);
      const steps = densityOf(events, places, ask, roomFor);
      const { counts, ...head } = await inTurns(steps, context.signal);
      return bytesAnswer(c, pack(head, { counts }));
    },
  },
  {
    method: 'get',
    path: '/events',
    summary: 'Single traced events',
    parameters: [
      WITHIN,
      SENDER,
      ...WINDOW,
      {
        name: 'most',
        help: '1000 where it is not given',
        schema: { type: 'integer', minimum: 1, maximum: MOST_SINGLE },
      },
    ],
    gives:
      'events in the order of time with sender, handler, virtual times, when the sending event was handled, and when this one was handled again (it had been undone); total: all in the window',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const ask = {
        level: 'lp' as const,
        within: pathOf(c, 'within'),
        sender: pathOf(c, 'sender'),
        ...(await simulationWindow(c, shown, context.signal)),
      };
      const most = integerOf(c, 'most', 1000, 1, MOST_SINGLE);
      const { events, places } = await tracesOf(shown, context.signal);
      return c.json(await inTurns(listOf(events, places, ask, most), context.signal));
    },
  },
  {
    method: 'get',
    path: '/rollbacks',
    summary: 'Single rollbacks',
    parameters: [
      { ...WITHIN, help: 'path of a PE or KP: only its rollbacks' },
      ...WINDOW,
      {
        name: 'most',
        help: '1000 where it is not given',
        schema: { type: 'integer', minimum: 1, maximum: MOST_SINGLE },
      },
    ],
    gives: 'rollbacks that undid most, in the order of time; total: all in the window',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const { from, to } = await simulationWindow(c, shown, context.signal);
      const most = integerOf(c, 'most', 1000, 1, MOST_SINGLE);
      const { rollbacks } = await undoneOf(shown, context.signal);
      const ask = { from, to, within: pathOf(c, 'within') };
      return c.json(await inTurns(rollbacksIn(rollbacks, ask, most), context.signal));
    },
  },
];
