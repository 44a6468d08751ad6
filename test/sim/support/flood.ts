/** One LP sends many events to another, on another PE, which only counts them. */
import { defineModel, int } from 'triscope/sim';

export default defineModel({
  name: 'flood',
  end: 40,
  lookahead: 0.5,
  options: { each: int(80, 'events sent at a time') },
  lps: () => 2,
  state: { n: 'u32', order: 'u32' },
  message: { k: 'u32' },
  init(lp) {
    if (lp.id === 1) lp.send(1, 1);
  },
  forward(lp, m) {
    const s = lp.state;
    s.n++;
    s.order = (Math.imul(s.order, 31) + m.k) >>> 0;
    if (lp.id === 0) return;
    for (let k = 0; k < lp.params.each; k++) lp.send(0, 0.5 + lp.uniform() / 2).k = k;
    lp.send(1, 1);
  },
});
