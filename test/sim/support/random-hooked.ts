/** The random model with a hook at every fifth unit of virtual time that tells what it sees. */
import type { GvtHook, GvtHookContext, LpView, Model } from 'triscope/sim';
import { type Params, singleType } from './random-model.ts';

type View = LpView<{ readonly hash: 'u32'; readonly count: 'u16' }, Params>;

/** A sum over this PE's LPs that adds up over PEs. */
function look(context: GvtHookContext<unknown>): string {
  let sum = 0;
  let events = 0;
  let n = 0;
  for (const lp of context.lps()) {
    const { state, id, now } = lp as unknown as View;
    if (now !== context.gvt) throw new Error(`LP ${id} is at ${now}, not at ${context.gvt}`);
    sum += (state.hash % 1_000_003) * (id + 1);
    events += state.count;
    n++;
  }
  return `${context.gvt} ${n} ${events} ${sum}`;
}

export const EVERY_FIVE: GvtHook<unknown> = {
  at: 5,
  run(context) {
    context.output(look(context));
    context.again(context.gvt + 5);
  },
};

/** A random model with this hook. */
export const hooked = (hook: GvtHook<unknown>): Model => ({
  ...singleType('random-hooked', 'automatic'),
  gvtHook: hook,
});

export default hooked(EVERY_FIVE);
