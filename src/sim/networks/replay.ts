/** A terminal that replays the operations of an MPI rank: one after another, each as soon as the one before is done. */
import { array } from '../../model/fields.ts';
import type { Lp, LpView, Results } from '../model.ts';
import { inject, isReady, nicState, terminalOf } from './nic.ts';
import { type message, type NetworkParams, RUN } from './packets.ts';
import { COMPUTE, SEND } from './trace-words.ts';

/** @param receives of a rank, at most, by the options of its model */
export const replayState = (receives: (options: object) => number) =>
  ({
    ...nicState,
    /** Operations done; flits of the present message that are still to be sent, and since when it is. */
    done: 'u32',
    left: 'f64',
    sendsSince: 'f64',
    computes: 'bool',
    /** When the last operation was done. */
    ended: 'bool',
    endedAt: 'f64',
    /** Flits that have come, by receive. */
    arrived: array('u32', receives),
  }) as const;

type State = ReturnType<typeof replayState>;
type Rank = Lp<State, typeof message, NetworkParams>;

/** A message takes a flit at least. */
const flitsOf = (bytes: number, p: NetworkParams) => Math.max(1, Math.ceil(bytes / p.flitBytes));

const hasRank = (lp: Pick<Rank, 'id' | 'params'>): boolean =>
  terminalOf(lp) < lp.params.trace.first.length - 1;

/** Goes on as far as possible. */
export function replay(lp: Rank): void {
  const { state: s, params: p } = lp;
  const { first, what, peer, amount, slot } = p.trace;
  const rank = terminalOf(lp);
  if (s.computes || s.ended || !hasRank(lp)) return;
  for (;;) {
    const at = first[rank] + s.done;
    if (at === first[rank + 1]) break;
    if (what[at] === COMPUTE) {
      s.computes = true;
      lp.send(lp.id, amount[at]).kind = RUN;
      return;
    }
    const flits = flitsOf(amount[at], p);
    if (what[at] === SEND) {
      if (s.left === 0) {
        s.left = flits;
        s.sendsSince = lp.now;
      }
      while (s.left > 0) {
        if (!isReady(lp, lp.now)) return;
        const some = Math.min(s.left, p.packetSize);
        inject(lp, peer[at], some, s.sendsSince, slot[at]);
        s.left -= some;
      }
    } else if (s.arrived.get(slot[at]) < flits) return;
    s.done++;
  }
  s.ended = true;
  s.endedAt = lp.now;
}

/** The present computation is over. */
export function computed(lp: Rank): void {
  lp.state.computes = false;
  lp.state.done++;
}

export function finishRank(lp: LpView<State, NetworkParams>, results: Results): void {
  if (!hasRank(lp)) return;
  results.add('ranks', 1);
  results.add('ranksEnded', lp.state.ended ? 1 : 0);
  if (lp.state.ended) results.max('programTime', lp.state.endedAt);
}
