/**
 * Coffee shops: a model of your own, in one file. Run it from the checkout's root:
 *
 *     ./bin/triscope sim run examples/coffee-shop.ts --synch=optimistic --pes=2 --shops=6
 *
 * Every shop has a door and a few baristas; each of them is one LP (logical process):
 *
 *     LP   0     1        2        3        4     5        …        with 3 baristas per shop
 *          door  barista  barista  barista  door  barista
 *          └───────── shop 0 ─────────────┘ └──── shop 1 …
 *
 * Customers come in at the door, which sends each of them to one of its shop's baristas. Where the line is
 * too long for them, they walk to another shop. LPs share nothing: all they do is send messages.
 */
import { defineModel, float, int, ModelError, ring } from 'triscope/sim';

/** What an event means to the LP that gets it. */
const COMES = 0; // to a door, or to a barista: a customer is here
const NEXT = 1; // to a door, from itself: time for the next customer from the street
const SERVED = 2; // to a barista, from itself: the first in line has got the coffee

/** Steps from the door to a barista: every customer needs at least this long (minutes). */
const STEPS = 0.1;

export default defineModel({
  name: 'coffee-shop',
  help: 'doors, baristas, and customers who do not like to wait',
  end: 600, // minutes
  lookahead: STEPS, // no message to another LP arrives sooner than this

  // Options of the model's own: --shops=… on the command line, with checks and help for free.
  options: {
    shops: int(4, 'coffee shops', { min: 1 }),
    baristas: int(3, 'baristas per shop', { min: 1 }),
    rush: float(0.8, 'mean time between customers of a shop', { min: 0.001, unit: 'minutes' }),
    brew: float(2, 'mean time to make a coffee', { min: 0, unit: 'minutes' }),
    patience: int(4, 'customers in line at which a newcomer walks on', { min: 1, max: 40 }),
  },
  lps: (options) => options.shops * (1 + options.baristas),

  // Called once per PE before the start: checks what belongs together, works out constants. Handlers see
  // what it returns as `lp.params`.
  prepare(options, { lookahead }) {
    if (lookahead > STEPS) throw new ModelError(`--lookahead=${lookahead}: at most ${STEPS}`);
    return { ...options, perShop: 1 + options.baristas };
  },

  // The fields of every message: typed, of fixed size, zero unless set.
  message: { kind: 'u8', walks: 'u8' },

  // Two types of LP; `typeOf` tells which one each LP is.
  typeOf: (lp, { perShop }) => (lp % perShop === 0 ? 'door' : 'barista'),
  types: {
    door: {
      // The fields of an LP's state. They start at zero, and the engine undoes every write to them in a
      // rollback: no `reverse` needed.
      state: { fromStreet: 'u32', fromElsewhere: 'u32' },
      init(lp) {
        lp.send(lp.id, lp.exponential(lp.params.rush)).kind = NEXT;
      },
      forward(lp, message) {
        if (message.kind === NEXT) {
          lp.state.fromStreet++;
          lp.send(lp.id, lp.exponential(lp.params.rush)).kind = NEXT;
        } else {
          lp.state.fromElsewhere++;
        }
        const barista = lp.id + lp.integer(1, lp.params.baristas);
        const customer = lp.send(barista, STEPS);
        customer.kind = COMES;
        customer.walks = message.walks;
      },
      final(lp, results) {
        results.add('customers', lp.state.fromStreet);
        results.add('walkedIn', lp.state.fromElsewhere);
      },
    },
    barista: {
      // A ring is a first-in first-out queue; here, of the times at which customers got in line.
      state: { line: ring('f64', 40), coffees: 'u32', gaveUp: 'u32', wait: 'f64' },
      init() {},
      forward(lp, message) {
        const { state, params } = lp;
        if (message.kind === COMES && state.line.length >= params.patience) {
          if (message.walks === 2 || params.shops === 1) {
            // Printed only once this event is sure to be part of history.
            if (state.gaveUp++ === 0) lp.output(`${lp.now.toFixed(1)}: barista ${lp.id} lost one`);
            return;
          }
          const door = lp.integer(0, params.shops - 1) * params.perShop;
          const customer = lp.send(door, STEPS + lp.exponential(5));
          customer.kind = COMES;
          customer.walks = message.walks + 1;
          return;
        }
        if (message.kind === COMES) {
          state.line.push(lp.now);
          if (state.line.length > 1) return; // someone else is being served
        } else {
          state.coffees++;
          state.wait += lp.now - state.line.shift();
        }
        if (state.line.length > 0) lp.send(lp.id, lp.exponential(params.brew)).kind = SERVED;
      },
      // Called for every LP after the end: totals over all LPs, and rows kept apart.
      final(lp, results) {
        const { coffees, wait, gaveUp } = lp.state;
        results.add('coffees', coffees);
        results.add('gaveUp', gaveUp);
        results.row('baristas', { coffees, meanWait: coffees > 0 ? wait / coffees : 0 });
      },
    },
  },
});
