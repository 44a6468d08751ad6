// A model whose faults can be chosen: where LPs are, who gets the events, what an event costs. Each event sends one event.
// Placement belongs to a model, so it comes from the environment: CAUSES_MAP is even, dealt or skewed.
import { defineModel, float, int } from '../../dist/sim/index.js';

const blocks = (_lp, index, kps) => index % kps;
const MAPS = {
  even: 'linear',
  dealt: 'round-robin',
  // 15 of 16 LPs on PE 0.
  skewed: { pe: (lp, lps) => (16 * lp < 15 * lps ? 0 : 1), kp: blocks },
};

/** Work for a processor, `n` times. */
function work(n, x) {
  let sum = x;
  for (let k = 0; k < n; k++) sum = Math.sqrt(sum + k);
  return sum;
}

const handlers = {
  state: { handled: 'u32', sum: 'f64' },
  init(lp) {
    const { startEvents, least, mean } = lp.params;
    for (let k = 0; k < startEvents; k++) lp.send(lp.id, least + lp.exponential(mean));
  },
  forward(lp) {
    const { state, params: p } = lp;
    state.handled++;
    state.sum = work(lp.type === 'slow' ? p.slow : p.work, lp.now);
    const draw = lp.uniform();
    const delay = p.least + lp.exponential(p.mean);
    let dest = lp.id;
    if (draw < p.hot) dest = 0;
    else if (draw < p.hot + p.crowd) dest = lp.id < p.half ? lp.id : lp.integer(0, p.half - 1);
    else if (draw < p.hot + p.crowd + p.partner) dest = (lp.id + p.half) % p.lps;
    else if (draw < p.hot + p.crowd + p.partner + p.remote) dest = lp.integer(0, p.lps - 1);
    lp.send(dest, delay);
  },
};

const share = (help) => float(0, help, { min: 0, max: 1 });

export default defineModel({
  name: 'causes',
  help: 'PHOLD with faults to choose',
  end: 100,
  lookahead: 0,
  map: MAPS[process.env.CAUSES_MAP ?? 'even'],
  options: {
    lps: int(64, 'LPs of the whole run', { min: 2 }),
    'start-events': int(8, 'events per LP at the start', { min: 0 }),
    work: int(100, 'steps of work of an event', { min: 0 }),
    slow: int(100, 'steps of work of an event of a slow LP', { min: 0 }),
    'slow-lps': share('part of the LPs that are slow: the last ones'),
    hot: share('part of the events that go to LP 0'),
    crowd: share(
      'part of the events that go to the first half of the LPs, and stay where they are there',
    ),
    partner: share('part of the events that go to the LP half of all LPs further on'),
    remote: float(0.1, 'part of the events that go to a random LP', { min: 0, max: 1 }),
    least: float(0.5, 'least delay of an event', { min: 0 }),
    mean: float(1, 'mean delay beyond the least', { min: 0 }),
  },
  lps: (options) => options.lps,
  prepare: (o, { lps }) => ({
    ...{ work: o.work, slow: o.slow, hot: o.hot, crowd: o.crowd, partner: o.partner },
    ...{ remote: o.remote, least: o.least, mean: o.mean, startEvents: o['start-events'] },
    ...{ lps, half: lps >> 1, firstSlow: lps * (1 - o['slow-lps']) },
  }),
  message: {},
  types: { plain: handlers, slow: handlers },
  typeOf: (lp, { firstSlow }) => (lp < firstSlow ? 'plain' : 'slow'),
});
