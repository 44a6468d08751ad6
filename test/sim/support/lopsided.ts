/** LP 0 has nearly all events; the last LP only answers it, once in a while, and both may stop the run. */
import { defineModel, float } from 'triscope/sim';

export default defineModel({
  name: 'lopsided',
  end: 100,
  lookahead: 0.1,
  lps: () => 2,
  options: { stop: float(0, 'time from which on the last LP stops the run; 0 for never') },
  state: { answers: 'u32' },
  message: { asks: 'u8' },
  init(lp) {
    if (lp.id === 0) lp.send(0, 0.01);
  },
  forward(lp, message) {
    if (lp.id === 0 && message.asks === 0) {
      lp.send(0, lp.exponential(0.01));
      if (lp.uniform() < 0.01) lp.send(1, 0.1 + lp.exponential(1)).asks = 1;
    } else {
      lp.state.answers++;
      if (lp.id === 1) lp.send(0, 0.1).asks = 2;
      if (lp.params.stop > 0 && lp.now >= lp.params.stop) lp.stop(0.1);
    }
  },
});
