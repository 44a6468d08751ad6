// PHOLD whose LPs have a state of 72 bytes: shows what an engine keeps, and undoes, for a model with fields.
// LINEAR=0 places LPs round robin.
import { array, defineModel, float, int } from '../dist/sim/index.js';

export default defineModel({
  name: 'fields',
  help: 'PHOLD with a state of 72 bytes per LP, three fields of it written by each event',
  end: 1,
  lookahead: 0.1,
  map: process.env.LINEAR === '0' ? 'round-robin' : 'linear',
  options: {
    'total-lps': int(1024, 'LPs', { min: 1 }),
    'start-events': int(16, 'events per LP at the start', { min: 0 }),
    remote: float(0.25, 'probability that an event goes to a random LP', { min: 0, max: 1 }),
  },
  lps: (options) => options['total-lps'],
  prepare: (options, run) => ({
    remote: options.remote,
    startEvents: options['start-events'],
    last: run.lps - 1,
    lookahead: run.lookahead,
  }),
  state: { handled: 'u32', latest: 'f64', sum: 'f64', recent: array('f64', 6) },
  message: {},
  init(lp) {
    const { startEvents, lookahead } = lp.params;
    for (let k = 0; k < startEvents; k++) lp.send(lp.id, lp.exponential(1 - lookahead) + lookahead);
  },
  forward(lp) {
    const { remote, last, lookahead } = lp.params;
    const { state } = lp;
    state.handled++;
    state.sum += lp.now - state.latest;
    state.latest = lp.now;
    const dest = lp.uniform() <= remote ? lp.integer(0, last) : lp.id;
    lp.send(dest, lp.exponential(1 - lookahead) + lookahead);
  },
  final(lp, results) {
    results.add('handled', lp.state.handled);
  },
});
