/** A recording's traces, kept as long as it is shown: read with the first request that needs them. */
import { ROSS_EVENT } from '../../model/schemas/ross.ts';
import type { TableFacts } from '../../view/series/store.ts';
import { ApiError } from '../api/route.ts';
import { sharedBy } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { loadTraces, type Traces } from './traces.ts';

const kept = sharedBy((shown: Shown, signal) => loadTraces(shown.path ?? '', signal));

/** @throws ApiError for a run that goes on: what its page needs comes by /live */
export async function tracesOf(shown: Shown, signal: AbortSignal): Promise<Traces> {
  const { path, live } = shown;
  if (live || path === null) {
    throw new ApiError(409, 'traces of a running simulation are shown once it has ended');
  }
  return kept(shown, signal);
}

/**
 * The trace of events as a table that spans time, for recordings that hold nothing else of a simulation: else their
 * samples tell the time. Null where there is no trace.
 */
export async function traceFacts(shown: Shown, signal: AbortSignal): Promise<TableFacts | null> {
  const { events } = await tracesOf(shown, signal);
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
