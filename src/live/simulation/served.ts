/** A recording's traces, kept as long as it is shown: read with the first request that needs them. */
import { ApiError } from '../api/route.ts';
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
