/**
 * A model that fails only where speculation is wrong. Users draw on a permit that a keeper, on another PE,
 * renews in good time: a user that runs ahead of the keeper finds none, and suspends itself or throws.
 */
import { defineModel, float, int, type LpType } from 'triscope/sim';

const MESSAGE = { use: 'bool', was: 'u32' } as const;

export const SUSPENDS = 0;
export const THROWS = 1;
export const OVERFLOWS = 2;
export const SENDS_WRONGLY = 3;

interface Params {
  readonly how: number;
  readonly last: number;
}

const STATE = { permits: 'u8', used: 'u32', spent: 'f64' } as const;

const user: LpType<typeof STATE, typeof MESSAGE, Params> = {
  state: STATE,
  init(lp) {
    lp.send(lp.id, 1).use = true;
  },
  forward(lp, m) {
    const s = lp.state;
    if (!m.use) {
      s.permits++;
      return;
    }
    s.used++;
    s.spent += lp.uniform();
    lp.send(lp.id, 1).use = true;
    lp.output(`LP ${lp.id} uses at ${lp.now}`);
    if (s.permits > 0) s.permits--;
    else if (lp.params.how === SUSPENDS) lp.suspend('no permit');
    else if (lp.params.how === THROWS) throw new Error('no permit');
    else if (lp.params.how === OVERFLOWS) s.permits--;
    else lp.send(-1, 1);
  },
};

/** The same by hand; it can suspend itself, not throw. */
const userByHand: LpType<typeof STATE, typeof MESSAGE, Params> = {
  ...user,
  forward(lp, m) {
    const s = lp.state;
    if (!m.use) {
      s.permits++;
      return;
    }
    s.used++;
    lp.send(lp.id, 1).use = true;
    lp.event.bits = s.permits > 0 ? 1 : 0;
    if (s.permits > 0) s.permits--;
    else lp.suspend('no permit');
  },
  reverse(lp, m) {
    const s = lp.state;
    if (!m.use) {
      s.permits--;
      return;
    }
    s.used--;
    if (lp.event.bits === 1) s.permits++;
  },
};

const keeper: LpType<{ readonly given: 'u32' }, typeof MESSAGE, Params> = {
  state: { given: 'u32' },
  init(lp) {
    lp.send(lp.id, 0.5);
  },
  forward(lp) {
    if (lp.now > lp.params.last) return;
    lp.state.given++;
    for (let user = 1; user < lp.lps; user++) lp.send(user, 0.25);
    lp.send(lp.id, 1);
  },
};

export default defineModel({
  name: 'guarded',
  end: 50,
  options: {
    users: int(3, 'LPs that use permits', { min: 1 }),
    how: int(
      SUSPENDS,
      'what a user does without one: 0 suspends, 1 throws, 2 overflows, 3 missends',
    ),
    last: float(1e9, 'virtual time after which the keeper renews no more'),
    hand: int(0, 'users with hand-written reverse: 0 or 1'),
  },
  lps: (o) => o.users + 1,
  prepare: (o): Params & { hand: number } => ({ how: o.how, last: o.last, hand: o.hand }),
  message: MESSAGE,
  // The keeper alone on the first PE.
  map: { pe: (lp, _lps, pes) => (lp === 0 ? 0 : pes - 1), kp: (_lp, index, kps) => index % kps },
  types: { keeper, user, userByHand },
  typeOf: (lp, p) => (lp === 0 ? 'keeper' : p.hand === 1 ? 'userByHand' : 'user'),
});
