/** PHOLD whose LPs count their events, and record what they count. */
import { defineModel, float, int } from 'triscope/sim';

export default defineModel({
  name: 'counting',
  lookahead: 0.1,
  options: {
    lps: int(16, 'LPs'),
    remote: float(0.4, 'part of events that go elsewhere'),
    skip: int(0, 'LPs with id % skip = skip - 1 are left out of traces'),
    only: int(0, 'LPs below this have an instrument; 0 for all'),
  },
  lps: (o) => o.lps,
  message: { hops: 'u32' },
  state: { count: 'u32', weight: 'f64' },
  init(lp) {
    lp.send(lp.id, lp.exponential(0.9) + 0.1);
  },
  forward(lp, message) {
    lp.state.count++;
    lp.state.weight += message.hops;
    const dest = lp.uniform() <= lp.params.remote ? lp.integer(0, lp.lps - 1) : lp.id;
    lp.send(dest, lp.exponential(0.9) + 0.1).hops = message.hops + 1;
  },
  instrument: {
    sample: {
      fields: { lp: 'u32', count: 'u32', weight: 'f64' },
      fill(lp, data) {
        data.lp = lp.id;
        data.count = lp.state.count;
        data.weight = lp.state.weight;
      },
    },
    traceEvent: {
      fields: { hops: 'u32', kind: 'u8' },
      fill(lp, message, data, control) {
        const { skip } = lp.params;
        if (skip > 0 && lp.id % skip === skip - 1) control.collect = false;
        data.hops = message.hops;
        data.kind = 7;
      },
    },
    traceRollback: {
      fields: { hops: 'u32' },
      fill(_lp, message, data) {
        data.hops = message.hops;
      },
    },
  },
  instrumentOf: (lp, { only }) => (only > 0 && lp >= only ? null : undefined),
});
