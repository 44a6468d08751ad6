/** A recording's traces, kept as long as it is shown: read with the first request that needs them. */
import { ROSS_EVENT } from '../../model/schemas/ross.ts';
import { ApiError } from '../api/route.ts';
import type { TableFacts } from '../series/store.ts';
import type { Shown } from '../shown.ts';
import { loadTraces, type Traces } from './traces.ts';

const kept = new WeakMap<Shown, Promise<Traces>>();

/** @throws ApiError for a run that goes on: what its page needs comes by /live */
export function tracesOf(shown: Shown): Promise<Traces> {
  const { path, live } = shown;
  if (live || path === null) {
    throw new ApiError(409, 'traces of a run that goes on are shown when it has ended');
  }
  let traces = kept.get(shown);
  if (traces === undefined) {
    traces = loadTraces(path);
    // A failure is told to who asked; the next one tries again.
    traces.catch(() => kept.delete(shown));
    kept.set(shown, traces);
  }
  return traces;
}

/**
 * The trace of events as a table that spans time, for recordings that hold nothing else of a simulation: else their
 * samples tell the time. Null where there is no trace.
 */
export async function traceFacts(shown: Shown): Promise<TableFacts | null> {
  const { events } = await tracesOf(shown);
  if (events.length === 0) return null;
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let k = 0; k < events.length; k++) {
    const t = events.times[k];
    if (t < from) from = t;
    if (t > to) to = t;
  }
  const { name, domain, help } = ROSS_EVENT;
  return { name, domain, help, metrics: [], entities: [], rows: events.length, from, to };
}
