/** Rollbacks: cascades, worst first, and their trees. */
import type { Context } from 'hono';
import { inTurns } from '../net/shared-work.ts';
import { undoneOf } from '../simulation/served.ts';
import { pathOf, simulationWindow, WITHIN } from './entity-query.ts';
import { ApiError, integerOf, type Route, WINDOW } from './route.ts';

const MOST_LISTED = 1000;
const MOST_NODES = 5000;

/** PE and KP that a path lies in; rollbacks are of KPs. */
function kpOf(c: Context): { pe?: number; kp?: number } {
  const path = pathOf(c, 'within');
  if (path === '') return {};
  const [pe, kp] = path.split('/').map(Number);
  return kp === undefined ? { pe } : { pe, kp };
}

const count = (name: string, help: string, maximum: number) => ({
  name,
  help,
  schema: { type: 'integer' as const, minimum: 1, maximum },
});

export const CASCADES: readonly Route[] = [
  {
    method: 'get',
    path: '/cascades',
    summary: 'Cascades of rollbacks, by the events that they undid',
    parameters: [
      ...WINDOW,
      { ...WITHIN, help: 'path of a PE or KP: cascades with a rollback there' },
      count('most', 'cascades listed; 50 where it is not given', MOST_LISTED),
    ],
    gives:
      'of each the rollback that began it, who sent the straggler, rollbacks, generations, PEs, events undone, virtual time gone back; and sums over all with a rollback in the window',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const { from, to } = await simulationWindow(c, shown, context.signal);
      const most = integerOf(c, 'most', 50, 1, MOST_LISTED);
      const filter = { from, to, ...kpOf(c), most };
      const { cascades, rollbacks } = await undoneOf(shown, context.signal);
      const list = await inTurns(cascades.list(filter), context.signal);
      return c.json({ ...list, recorded: rollbacks.length });
    },
  },
  {
    method: 'get',
    path: '/cascades/tree',
    summary: 'The rollbacks of a cascade',
    parameters: [
      { name: 'pe', help: 'PE of one of them', schema: { type: 'integer' }, required: true },
      { name: 'id', help: 'its number on that PE', schema: { type: 'integer' }, required: true },
      count('most', 'rollbacks listed; 500 where it is not given', MOST_NODES),
    ],
    gives:
      'rollbacks, parents before children, each with the place of its parent in the list (-1: the root); and how many are left out',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const pe = integerOf(c, 'pe', -1, 0, 2 ** 32);
      const id = integerOf(c, 'id', -1, 0, 2 ** 32);
      const most = integerOf(c, 'most', 500, 1, MOST_NODES);
      const { cascades } = await undoneOf(shown, context.signal);
      const tree = await inTurns(cascades.tree(pe, id, most), context.signal);
      if (tree === null) throw new ApiError(404, `PE ${pe} has no rollback ${id}`);
      return c.json(tree);
    },
  },
];
