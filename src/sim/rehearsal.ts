/**
 * V8 compiles no operation that has never run; where one is reached later, it throws the function away and compiles it once
 * more. The first event past the end of the run is sent shortly before that end.
 */
import { C } from './counters.ts';
import type { Pe } from './pe.ts';

/** Number of sends: enough for V8 to record what runs, and a multiple of the message objects used in turn (`sending.ts`). */
const REHEARSALS = 64;

/** Sends past the end of the run, without effect. Called before anything else is sent. */
export function rehearseEnd(pe: Pe): void {
  for (const lp of pe.contexts) {
    const index = pe.ids.findIndex((_, k) => pe.contextOf(k) === lp);
    if (index < 0) continue;
    lp.enter(index, 0);
    for (let n = 0; n < REHEARSALS; n++) lp.send(lp.id, Infinity);
    pe.ties.takeBack(index, lp.base, REHEARSALS);
  }
  pe.counts[C.eventsPastEnd] = 0;
}
