/**
 * Calls to agents: urgent ones first, and callers hang up when they have waited for too long. Theory knows three cases: without
 * patience or urgent calls M/M/c (Erlang C), with patience Erlang A, with one agent and urgent calls A. Cobham's formulas.
 *
 *     triscope sim run examples/call-center.ts --agents=4 --load=1.1 --patience=2
 */
import { defineModel, float, int, tally, timeAverage } from 'triscope/sim';
import { resource } from 'triscope/sim/parts';

const CALL = 0;
const DONE = 1;
const HANG_UP = 2;

export default defineModel({
  name: 'call-center',
  help: 'calls to agents, with urgent ones and callers that hang up',
  options: {
    centers: int(1, 'centers, each on its own', { min: 1 }),
    agents: int(3, 'agents of each center', { min: 1 }),
    load: float(0.8, 'calls per mean length of a call and agent', { min: 0 }),
    patience: float(0, 'mean patience, in mean lengths of calls; 0: without end', { min: 0 }),
    urgent: float(0, 'part of the calls that is urgent', { min: 0, max: 1 }),
  },
  lps: ({ centers }) => centers,
  end: 20_000,
  warmup: 200,
  /** Time is in units of the mean length of a call. */
  prepare: ({ agents, load, patience, urgent }) => ({
    agents,
    between: 1 / (agents * load),
    patience,
    urgent,
  }),
  state: {
    agents: resource({ places: 250 }),
    busy: timeAverage(),
    /** Of calls that are answered. */
    wait: tally(),
    urgentWait: tally(),
    /** 1 for a caller who hangs up, 0 for one who is answered. */
    lost: tally(),
  },
  message: { kind: 'u8', ticket: 'f64' },
  init(lp) {
    lp.state.agents.resize(lp.params.agents);
    lp.send(lp.id, lp.exponential(lp.params.between)).kind = CALL;
  },
  forward(lp, { kind, ticket }) {
    const { params, state } = lp;
    const { agents, busy, wait, urgentWait, lost } = state;
    if (kind === CALL) {
      lp.send(lp.id, lp.exponential(params.between)).kind = CALL;
      const priority = lp.uniform() < params.urgent ? 0 : 1;
      const mine = agents.line.join(lp.id, { priority });
      if (params.patience > 0) {
        const over = lp.arm(agents.line.patience(mine), lp.exponential(params.patience));
        over.kind = HANG_UP;
        over.ticket = mine;
      }
    } else if (kind === DONE) agents.release();
    else if (agents.line.leave(ticket) !== undefined) lost.add(1);
    for (let next = agents.grant(); next !== undefined; next = agents.grant()) {
      lost.add(0);
      (next.priority === 0 ? urgentWait : wait).add(lp.now - next.since);
      lp.send(lp.id, lp.exponential(1)).kind = DONE;
    }
    busy.set(agents.busy);
  },
});
