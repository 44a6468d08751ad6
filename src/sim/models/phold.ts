/** PHOLD: the benchmark model of optimistic simulation, as ROSS's (R. Fujimoto, 1990). */
import { flag, float, int, noEffect, text } from '../../model/option.ts';
import { defineModel } from '../define-model.ts';
import { type EventInfo, ModelError } from '../model.ts';

/** Event types: sent by the LP itself, or by another. */
const STAYED = 0;
const MOVED = 1;

/** Multiplications, each of which waits for the one before it, in a microsecond of a CPU of 3 GHz. */
const PER_MICROSECOND = 750;

/** Computes without a purpose. The result must be used, or V8 would remove the loop. */
function compute(steps: number): number {
  let x = 1;
  for (let k = 0; k < steps; k++) x = (Math.imul(x, 0x41c64e6d) + 12345) | 0;
  return x;
}

/** PHOLD's event data as ROSS's reader expects it: one integer. */
const eventData = {
  fields: { event_type: 'i32' },
  fill(lp: { id: number; event: EventInfo }, _message: object, data: { event_type: number }) {
    data.event_type = lp.event.source === lp.id ? STAYED : MOVED;
  },
} as const;

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
    work: float(0, 'computing per event, on a CPU of 3 GHz', { unit: 'µs', min: 0, max: 1e6 }),
    stagger: flag(false, 'spread the first events over the whole run'),
    run: text('undefined', 'a name for the run, kept with its settings', { placeholder: 'NAME' }),
    'cons-lookahead': {
      ...noEffect(0.01, 'phold takes --lookahead, as ROSS’s does'),
      kind: 'float',
    },
  },
  lps: (o, { pes }) => (o['total-lps'] > 0 ? o['total-lps'] : o.nlp * pes),
  prepare(o, run) {
    const mean = o.mean - run.lookahead;
    if (mean < 0) {
      throw new ModelError(
        `--mean=${o.mean} is less than --lookahead=${run.lookahead}: the mean includes the lookahead`,
      );
    }
    const steps = Math.round(o.work * PER_MICROSECOND);
    return {
      mean,
      lookahead: run.lookahead,
      remote: o.remote,
      last: run.lps - 1,
      startEvents: o['start-events'],
      steps,
      computed: compute(steps),
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
    if (p.steps > 0 && compute(p.steps) !== p.computed) throw new ModelError('computes wrong');
    const dest = lp.uniform() <= p.remote ? lp.integer(0, p.last) : lp.id;
    lp.send(dest, lp.exponential(p.mean) + p.lookahead);
  },
  reverse() {},
  instrument: {
    // ROSS's PHOLD has no state; it writes this number so that there is something to read.
    sample: {
      fields: { test_int: 'i32' },
      fill(_lp, data) {
        data.test_int = 1;
      },
    },
    traceEvent: eventData,
    traceRollback: eventData,
  },
});
