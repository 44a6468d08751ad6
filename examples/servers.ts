/**
 * Customers come to `servers` servers with one line (M/M/k): one LP, whose means theory knows (Erlang C).
 *
 *     triscope sim sweep examples/servers.ts --vary servers=1..4 --measure waiting=waiting/time --replications=20
 */
import { defineModel, float, int } from 'triscope/sim';

const ARRIVAL = 0;
const DEPARTURE = 1;

export default defineModel({
  name: 'servers',
  help: 'one line before several servers (M/M/k)',
  options: {
    servers: int(2, 'how many serve', { min: 1 }),
    load: float(0.7, 'part of the time that each of them is busy', { min: 0, max: 0.999 }),
    warmup: float(200, 'time from which on is counted', { min: 0 }),
  },
  lps: () => 1,
  end: 2200,
  /** Time is in units of the mean service. */
  prepare: ({ servers, load, warmup }) => ({ servers, warmup, between: 1 / (servers * load) }),
  state: {
    present: 'u32',
    since: 'f64',
    waiting: 'f64',
    busy: 'f64',
    arrived: 'u32',
    waited: 'u32',
  },
  message: { kind: 'u8' },
  init(lp) {
    lp.send(lp.id, lp.exponential(lp.params.between)).kind = ARRIVAL;
  },
  forward(lp, message) {
    const { state, params } = lp;
    const counts = lp.now >= params.warmup;
    if (counts) {
      const time = lp.now - Math.max(state.since, params.warmup);
      state.waiting += time * Math.max(0, state.present - params.servers);
      state.busy += time * Math.min(state.present, params.servers);
    }
    state.since = lp.now;
    if (message.kind === ARRIVAL) {
      lp.send(lp.id, lp.exponential(params.between)).kind = ARRIVAL;
      const waits = state.present >= params.servers;
      state.present++;
      if (!waits) lp.send(lp.id, lp.exponential(1)).kind = DEPARTURE;
      if (counts) {
        state.arrived++;
        if (waits) state.waited++;
      }
    } else {
      state.present--;
      if (state.present >= params.servers) lp.send(lp.id, lp.exponential(1)).kind = DEPARTURE;
    }
  },
  final({ state, params }, results) {
    results.add('time', state.since - params.warmup);
    results.add('waiting', state.waiting);
    results.add('busy', state.busy);
    results.add('arrived', state.arrived);
    results.add('waited', state.waited);
  },
});
