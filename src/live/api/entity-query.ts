/** Parameters that the routes about PEs, KPs and LPs share. */
import type { Context } from 'hono';
import { LEVELS, type Level } from '../../view/simulation/levels.ts';
import type { Shown } from '../shown.ts';
import { traceFacts } from '../simulation/served.ts';
import { ApiError, type Parameter, windowOf } from './route.ts';

const PATH = /^(\d+(\/\d+){0,2})?$/;

export const LEVEL: Parameter = {
  name: 'level',
  help: 'what the rows are: pe (where it is not given), kp or lp',
  schema: { type: 'string', enum: LEVELS },
};

export const WITHIN: Parameter = {
  name: 'within',
  help: 'path of an entity, such as 1 (PE 1) or 1/3 (its KP 3): only its parts',
  schema: { type: 'string' },
};

/** A word of a list; the first by default. @throws ApiError */
export function wordOf<T extends string>(c: Context, name: string, words: readonly T[]): T {
  const given = c.req.query(name) ?? words[0];
  const word = words.find((one) => one === given);
  if (word === undefined) throw new ApiError(400, `${name}=… must be one of ${words.join(', ')}`);
  return word;
}

export const levelOf = (c: Context): Level => wordOf(c, 'level', LEVELS);

/** A path such as `1/3`. @throws ApiError */
export function pathOf(c: Context, name: string): string {
  const path = c.req.query(name) ?? '';
  if (!PATH.test(path)) {
    throw new ApiError(400, `${name}=… must be a path such as 1, 1/3 or 1/3/17`);
  }
  return path;
}

/** The requested window; by default the simulation's whole time. @throws ApiError */
export async function simulationWindow(
  c: Context,
  shown: Shown,
  signal: AbortSignal,
): Promise<{ from: number; to: number }> {
  // Computing the length of all tables would take longer than most answers.
  if (c.req.query('from') !== undefined && c.req.query('to') !== undefined) {
    return windowOf(c, { from: 0, to: 1 });
  }
  const span = await spanOf(shown, signal);
  // Its end belongs to it, to the last sample.
  const end = span.to + Math.max(1e-9, (span.to - span.from) * 1e-9);
  return windowOf(c, { from: span.from, to: end });
}

async function spanOf(shown: Shown, signal: AbortSignal): Promise<{ from: number; to: number }> {
  const all = shown.store.tables();
  const own = all.filter(({ name }) => name.startsWith('ross_'));
  const events = all.length > 0 || shown.live ? null : await traceFacts(shown, signal);
  const tables = events === null ? (own.length > 0 ? own : all) : [events];
  if (tables.length === 0) return { from: 0, to: 1 };
  return {
    from: Math.min(...tables.map((table) => table.from)),
    to: Math.max(...tables.map((table) => table.to)),
  };
}
