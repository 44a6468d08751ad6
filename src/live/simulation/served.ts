/** A recording's traces, kept as long as it is shown: read with the first request that needs them. A live run's rollbacks. */
import { ROSS_EVENT } from '../../model/schemas/ross.ts';
import type { TableFacts } from '../../view/series/store.ts';
import { CascadeIndex } from '../../view/simulation/cascades.ts';
import { PlacesByLp } from '../../view/simulation/places.ts';
import { Rollbacks } from '../../view/simulation/rollbacks.ts';
import { ApiError } from '../api/route.ts';
import { inTurns, sharedBy } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { loadTraces, type Traces } from './traces.ts';

const kept = sharedBy((shown: Shown, signal) => loadTraces(shown.path ?? '', signal));

/** @throws ApiError for a run that goes on: single events are not streamed */
export async function tracesOf(shown: Shown, signal: AbortSignal): Promise<Traces> {
  const { path, live } = shown;
  if (live || path === null) {
    throw new ApiError(409, 'traces of a running simulation are shown once it has ended');
  }
  return kept(shown, signal);
}

type Undone = Pick<Traces, 'rollbacks' | 'cascades' | 'places'>;

const newest = sharedBy(async (shown: Shown, signal): Promise<Undone> => {
  const rollbacks = shown.rollbacks?.() ?? new Rollbacks();
  const cascades = await inTurns(CascadeIndex.of(rollbacks), signal);
  return { rollbacks, cascades, places: new PlacesByLp() };
});

/** Rollbacks; of a run that goes on the newest, up to 100,000 (`LiveRollbacks`), without the places of LPs. */
export const undoneOf = (shown: Shown, signal: AbortSignal): Promise<Undone> =>
  shown.live ? newest(shown, signal) : tracesOf(shown, signal);

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
