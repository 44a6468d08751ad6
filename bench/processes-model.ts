/**
 * One model in three styles, for `bench/processes.mjs`: machines that work, break, and wait for a repairman far away.
 *
 *   handler     one `forward` with a field that says what comes next
 *   steps       the same as a table of named steps, each of which returns the next
 *   generator   a generator per LP, as SimPy has them: outside of the state, so made again from a log after each rollback
 */
import { defineModel, int, type Lp, oneOf, word } from 'triscope/sim';

const KINDS = ['work', 'broken', 'mended', 'ask'] as const;
const state = { next: word(KINDS), worked: 'f64', mended: 'u32', steps: 'u32' } as const;
const message = { kind: word(KINDS), from: 'u32' } as const;
type Machine = Lp<
  typeof state,
  typeof message,
  { readonly neighbours: number; readonly style: string }
>;

const ask = (lp: Machine) => {
  const other = (lp.id + lp.integer(1, lp.params.neighbours)) % lp.lps;
  const sent = lp.send(other, lp.lookahead + lp.exponential(0.5));
  sent.kind = 'ask';
  sent.from = lp.id;
};
const answer = (lp: Machine, from: number) => {
  lp.send(from, lp.lookahead + lp.exponential(0.5)).kind = 'mended';
};

function handler(lp: Machine, kind: string, from: number): void {
  const { state } = lp;
  if (kind === 'ask') answer(lp, from);
  else if (state.next === 'work') {
    const time = lp.exponential(1);
    state.worked += time;
    state.next = 'broken';
    lp.send(lp.id, time).kind = 'broken';
  } else if (state.next === 'broken') {
    state.next = 'mended';
    ask(lp);
  } else {
    state.mended++;
    state.next = 'broken';
    const time = lp.exponential(1);
    state.worked += time;
    lp.send(lp.id, time).kind = 'broken';
  }
}

/** Each step does its part and returns the name of what waits for the next event. */
const STEPS: Readonly<Record<string, (lp: Machine) => 'work' | 'broken' | 'mended'>> = {
  work(lp) {
    const time = lp.exponential(1);
    lp.state.worked += time;
    lp.send(lp.id, time).kind = 'broken';
    return 'broken';
  },
  broken(lp) {
    ask(lp);
    return 'mended';
  },
  mended(lp) {
    lp.state.mended++;
    return STEPS.work(lp);
  },
};

/** What the process of a machine is given each time that it goes on. */
interface Turn {
  readonly time: number;
}
function* machine(): Generator<'timeout' | 'ask', void, Turn> {
  let mended = 0;
  for (;;) {
    yield 'timeout';
    yield 'ask';
    mended++;
    if (mended < 0) return;
  }
}
/** The generators of this PE, and all that each has been given: what happened before a rollback is done again from there. */
const processes = new Map<number, { run: Generator<string, void, Turn>; log: Turn[] }>();

function generator(lp: Machine, kind: string, from: number): void {
  const { state } = lp;
  if (kind === 'ask') {
    answer(lp, from);
    return;
  }
  let own = processes.get(lp.id);
  if (own === undefined) {
    own = { run: machine(), log: [] };
    processes.set(lp.id, own);
  }
  if (own.log.length !== state.steps) {
    own.log.length = state.steps;
    own.run = machine();
    for (const turn of own.log) own.run.next(turn);
  }
  const turn = { time: lp.now };
  own.log.push(turn);
  state.steps++;
  const asked = own.run.next(turn).value;
  if (kind === 'mended') state.mended++;
  if (asked === 'ask') ask(lp);
  else {
    const time = lp.exponential(1);
    state.worked += time;
    lp.send(lp.id, time).kind = 'broken';
  }
}

export default defineModel({
  name: 'processes',
  help: 'one model as a handler, as steps and as generators',
  end: 1000,
  lookahead: 0.01,
  options: {
    machines: int(256, 'machines', { min: 2 }),
    neighbours: int(255, 'of how many machines after it one may ask', { min: 1 }),
    style: oneOf({ handler: 0, steps: 1, generator: 2 }, 'handler', 'how it is written'),
  },
  lps: ({ machines }) => machines,
  state,
  message,
  init(lp) {
    lp.send(lp.id, lp.uniform()).kind = 'work';
  },
  forward(lp, { kind, from }) {
    const { style } = lp.params;
    if (style === 'handler') handler(lp, kind, from);
    else if (style === 'generator') generator(lp, kind, from);
    else if (kind === 'ask') answer(lp, from);
    else lp.state.next = STEPS[lp.state.next](lp);
  },
  final(lp, results) {
    results.add('mended', lp.state.mended);
    results.add('worked', lp.state.worked);
  },
});
