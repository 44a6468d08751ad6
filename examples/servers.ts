/**
 * Customers come to `servers` servers with one line (M/M/k): one LP, whose means theory knows (Erlang C).
 *
 *     triscope sim sweep examples/servers.ts --vary servers=1..4 --measure waiting=waiting.mean --replications=20
 */
import { defineModel, float, int, quantiles, ring, tally, timeAverage } from 'triscope/sim';

const ARRIVAL = 0;
const DEPARTURE = 1;

export default defineModel({
  name: 'servers',
  help: 'one line before several servers (M/M/k)',
  options: {
    servers: int(2, 'how many serve', { min: 1 }),
    load: float(0.7, 'part of the time that each of them is busy', { min: 0, max: 0.999 }),
  },
  lps: () => 1,
  end: 2200,
  warmup: 200,
  /** Time is in units of the mean service. */
  prepare: ({ servers, load }) => ({ servers, between: 1 / (servers * load) }),
  state: {
    /** When those in the line came. */
    line: ring('f64', 4096),
    waiting: timeAverage({ slices: 128 }),
    busy: timeAverage({ slices: 128 }),
    /** 1 for a customer who waits, 0 for one who is served at once. */
    late: tally({ slices: 128 }),
    wait: tally({ slices: 128 }),
    waits: quantiles({ from: 0.001, to: 1000, error: 0.01 }),
  },
  message: { kind: 'u8' },
  init(lp) {
    lp.send(lp.id, lp.exponential(lp.params.between)).kind = ARRIVAL;
  },
  forward(lp, message) {
    const { state, params } = lp;
    const serve = (waited: number) => {
      state.wait.add(waited);
      state.waits.add(waited);
      lp.send(lp.id, lp.exponential(1)).kind = DEPARTURE;
    };
    if (message.kind === ARRIVAL) {
      lp.send(lp.id, lp.exponential(params.between)).kind = ARRIVAL;
      const waits = state.busy.value === params.servers;
      state.late.add(waits ? 1 : 0);
      if (waits) state.line.push(lp.now);
      else {
        state.busy.add(1);
        serve(0);
      }
    } else if (state.line.length > 0) serve(lp.now - state.line.shift());
    else state.busy.add(-1);
    state.waiting.set(state.line.length);
  },
});
