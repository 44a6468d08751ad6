/** Who sends to whom. */
import {
  type Matrix,
  matrixOfEvents,
  matrixOfRollbacks,
  matrixOfSends,
} from '../../view/simulation/matrix.ts';
import { pack } from '../../view/simulation/packed.ts';
import type { Steps } from '../../view/steps.ts';
import { inTurns } from '../net/shared-work.ts';
import { tracesOf, undoneOf } from '../simulation/served.ts';
import { LEVEL, levelOf, pathOf, simulationWindow, WITHIN, wordOf } from './entity-query.ts';
import { BYTES, bytesAnswer, type Route, WINDOW } from './route.ts';

const OF = ['best', 'events', 'sends', 'rollbacks'] as const;

const NONE: Omit<Matrix, 'counts'> = {
  of: 'events',
  level: 'pe',
  within: '',
  rows: [],
  columns: [],
  each: 1,
  total: 0,
  own: 0,
};

export const MATRIX: readonly Route[] = [
  {
    method: 'get',
    path: '/matrix',
    summary: 'Messages, or rollbacks, from each entity to each other',
    parameters: [
      {
        name: 'of',
        help: 'events: traced ones; sends: PEs’ counters of messages sent; rollbacks: who rolled whom back; best: events if all were traced, or else sends',
        schema: { type: 'string', enum: OF },
      },
      LEVEL,
      { ...WITHIN, help: `${WITHIN.help}, as sender or receiver` },
      ...WINDOW,
    ],
    gives:
      'u32 length of a JSON head (rows: senders, columns: receivers; each: entities in each; of: what it was made from; total, own), the head, then f32 counts row by row, NaN where it cannot be known; no rows where nothing was recorded',
    types: [BYTES],
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const kind = wordOf(c, 'of', OF);
      const ask = {
        level: levelOf(c),
        within: pathOf(c, 'within'),
        ...(await simulationWindow(c, shown, context.signal)),
      };
      const turns = (steps: Steps<Matrix | null>) => inTurns(steps, context.signal);
      const ofRollbacks = async () => {
        const { rollbacks, places } = await undoneOf(shown, context.signal);
        return turns(matrixOfRollbacks(rollbacks, places, { ...ask, of: 'rollbacks' }));
      };
      const ofEvents = async () => {
        const { events, onlyStragglers, places } = await tracesOf(shown, context.signal);
        const isPart = kind === 'best' && onlyStragglers;
        return isPart ? null : turns(matrixOfEvents(events, places, { ...ask, of: 'events' }));
      };
      const ofSends = () => turns(matrixOfSends(shown.store, { ...ask, of: 'sends' }));
      let made: Matrix | null;
      if (kind === 'rollbacks') made = await ofRollbacks();
      else if (kind === 'events') made = await ofEvents();
      else if (kind === 'sends' || shown.live) made = await ofSends();
      else made = (await ofEvents()) ?? (await ofSends());
      const { counts, ...head } = made ?? { ...NONE, counts: new Float32Array(0) };
      return bytesAnswer(c, pack(head, { counts }));
    },
  },
];
