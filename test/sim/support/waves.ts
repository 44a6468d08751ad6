/** Many events at first, then few, and many again at the end: PEs in step go ahead of each other, and come back. */
import { defineModel, float, tally, timer } from 'triscope/sim';

const LPS = 200;
/** Where the stretches with many events end, and those with few; mean offsets beyond the lookahead. */
const MANY = 300;
const ALL = 4300;
const DENSE = 1;
const SPARSE = 100;

export default defineModel({
  name: 'waves',
  end: ALL + MANY,
  lookahead: 0.25,
  lps: () => LPS,
  options: {
    fails: float(0, 'time from which on LPs fail; 0 for never'),
    suspends: float(0, 'the same, by suspending themselves'),
  },
  state: { hash: 'u32', late: 'u32', patience: timer(), delays: tally() },
  message: { hops: 'u32' },
  init(lp) {
    lp.send(lp.id, lp.exponential(DENSE)).hops = 1;
  },
  forward(lp, message) {
    const { state, params } = lp;
    if (params.fails > 0 && lp.now >= params.fails) throw new Error('as was asked');
    if (params.suspends > 0 && lp.now >= params.suspends) lp.suspend('as was asked');
    if (message.hops === 0) {
      state.late++;
      return;
    }
    lp.cancel(state.patience);
    const mean = lp.now % ALL < MANY ? DENSE : SPARSE;
    const delay = lp.lookahead + lp.exponential(mean);
    state.hash = (Math.imul(state.hash, 31) + message.hops) >>> 0;
    state.delays.add(delay);
    const dest = lp.uniform() < 0.25 ? lp.integer(0, lp.lps - 1) : lp.id;
    lp.send(dest, delay).hops = message.hops + 1;
    if (lp.uniform() < 0.1) lp.arm(state.patience, 0.5 * mean).hops = 0;
    if (lp.uniform() < 0.001) lp.output(`LP ${lp.id}: ${state.hash}`);
  },
});
