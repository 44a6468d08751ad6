/** PHOLD that tells what it commits: in arrays of this module, and, if asked, in its output. */
import { defineModel, flag, float, int } from 'triscope/sim';

/** A committed event. */
export interface Committed {
  readonly source: number;
  readonly destination: number;
  readonly sendTime: number;
  readonly receiveTime: number;
}

/** What has been committed in this thread, in order of commit. */
export const committed: Committed[] = [];

/** The event that a line of output tells of. */
export function parseLine(text: string): Committed {
  const [source, destination, sendTime, receiveTime] = text.split(' ').map(Number);
  return {
    source: source as number,
    destination: destination as number,
    sendTime: sendTime as number,
    receiveTime: receiveTime as number,
  };
}

export default defineModel({
  name: 'traced-phold',
  lookahead: 0.1,
  options: {
    lps: int(8, 'LPs of the whole run', { min: 1 }),
    'start-events': int(1, 'events per LP at the start'),
    mean: float(1, 'mean offset of an event, lookahead included'),
    remote: float(0.25, 'probability that an event goes to a random LP'),
    print: flag(false, 'print each event'),
  },
  lps: (o) => o.lps,
  prepare: (o, run) => ({
    mean: o.mean - run.lookahead,
    remote: o.remote,
    startEvents: o['start-events'],
    print: o.print,
  }),
  state: {},
  message: {},
  init(lp) {
    const { mean, startEvents } = lp.params;
    for (let k = 0; k < startEvents; k++) lp.send(lp.id, lp.exponential(mean) + lp.lookahead);
  },
  forward(lp) {
    const { mean, remote, print } = lp.params;
    if (print) lp.output(`${lp.event.source} ${lp.id} ${lp.event.sendTime} ${lp.now}`);
    const dest = lp.uniform() <= remote ? lp.integer(0, lp.lps - 1) : lp.id;
    lp.send(dest, lp.exponential(mean) + lp.lookahead);
  },
  reverse() {},
  commit(lp) {
    committed.push({
      source: lp.event.source,
      destination: lp.id,
      sendTime: lp.event.sendTime,
      receiveTime: lp.now,
    });
  },
});
