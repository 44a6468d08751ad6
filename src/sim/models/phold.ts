/** PHOLD: the benchmark model of optimistic simulation, as ROSS's (R. Fujimoto, 1990). */
import { flag, float, int } from '../../model/option.ts';
import { defineModel, ModelError } from '../model.ts';

export default defineModel({
  name: 'phold',
  help: 'each event sends one: to itself or, with some probability, to a random LP',
  end: 100000,
  lookahead: 1,
  options: {
    nlp: int(8, 'LPs per PE', { min: 1 }),
    'total-lps': int(0, 'LPs of the whole run (instead of --nlp)', { min: 0 }),
    'start-events': int(1, 'events per LP at the start', { min: 0 }),
    mean: float(1, 'mean offset of an event, lookahead included', { unit: 'virtual time' }),
    mult: float(1.4, 'accepted as ROSS does; event memory grows on demand here'),
    remote: float(0.25, 'probability that an event goes to a random LP', { min: 0, max: 1 }),
    memory: int(100, 'accepted as ROSS does; event memory grows on demand here'),
    stagger: flag(false, 'spread the first events over the whole run'),
  },
  lps: (o, { pes }) => (o['total-lps'] > 0 ? o['total-lps'] : o.nlp * pes),
  prepare(o, run) {
    const mean = o.mean - run.lookahead;
    if (mean < 0) {
      throw new ModelError(
        `--mean=${o.mean} is less than --lookahead=${run.lookahead}: the mean includes the lookahead`,
      );
    }
    return {
      mean,
      lookahead: run.lookahead,
      remote: o.remote,
      last: run.lps - 1,
      startEvents: o['start-events'],
      stagger: o.stagger ? Math.trunc(run.end) : 0,
    };
  },
  state: {},
  message: {},
  init(lp) {
    const { mean, lookahead, startEvents, stagger } = lp.params;
    for (let k = 0; k < startEvents; k++) {
      let offset = lp.exponential(mean) + lookahead;
      if (stagger > 0) offset += lp.id % stagger;
      lp.send(lp.id, offset);
    }
  },
  forward(lp) {
    const p = lp.params;
    const dest = lp.uniform() <= p.remote ? lp.integer(0, p.last) : lp.id;
    lp.send(dest, lp.exponential(p.mean) + p.lookahead);
  },
  reverse() {},
});
