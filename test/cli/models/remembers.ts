/** Wrong on purpose: its state depends on how often its handler was called, not on its events alone. */
import { defineModel } from 'triscope/sim';

let calls = 0;

export default defineModel({
  name: 'remembers',
  lps: () => 8,
  end: 100,
  lookahead: 0.1,
  state: { calls: 'f64' },
  message: {},
  init(lp) {
    lp.send(lp.id, 0.1 + lp.exponential(1));
  },
  forward(lp) {
    calls++;
    lp.state.calls += calls;
    lp.send(lp.integer(0, 7), 0.1 + lp.exponential(1));
  },
});
