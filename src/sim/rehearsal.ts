/**
 * V8 compiles no operation that has never run; where one is reached later, it throws the function away and compiles it once
 * more. The first event past the end of the run is sent shortly before that end.
 */
import { C } from './counters.ts';
import { EXTRA, RECV, SEND, SOURCE, TIE } from './layout.ts';
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

/** Events of a round, and of those that go back in front of the others. */
const EVENTS = 8;
const BACK = 5;
/** How far those of a pair are apart. */
const NEAR = 0.01;
/** Rounds are so far apart in time that each begins a new rung of the queue. */
const APART = 256;

/**
 * Lets the queue take its rare ways, without effect: a new rung and its end, events in front of the run, events of one time and
 * tie-breaker. Called before there are events.
 */
export function rehearseQueue({ pool, queue }: Pe): void {
  const { F, I } = pool;
  const events = Array.from({ length: EVENTS }, () => pool.alloc()).filter((h) => h !== 0);
  const put = (h: number, time: number) => {
    F[h + RECV] = time;
    queue.push(time, h);
  };
  /** Pairs of events at `time` and every `apart` after it; some go back in front of the rest. */
  const round = (time: number, apart: number) => {
    for (const [k, h] of events.entries()) put(h, time + ((k >> 1) + (k & 1) * NEAR) * apart);
    for (let k = BACK; k > 0; k--) put(queue.take(Infinity), time + (k * apart) / BACK);
    while (queue.pop() !== 0);
  };
  for (const [k, h] of events.entries()) {
    I[(h << 1) + EXTRA] = 0;
    I[(h << 1) + SOURCE] = 0;
    F[h + TIE] = 0.5;
    F[h + SEND] = -k;
  }
  for (let n = 1; n <= REHEARSALS && events.length === EVENTS; n++) {
    round(n * APART, 1);
    round((n + 0.5) * APART, 0);
  }
  for (const h of events) pool.free(h);
  queue.restart();
  pool.unuse();
  // All of it: another PE may need the memory first.
  pool.settle(true);
}
