/**
 * Parcels: shops hand them to depots, and lorries take them from depot to depot along the shortest ways of a random network
 * of roads, as many at a time as a lorry holds. It shows fields sized by options, records, words, tables, and lookaheads of types.
 *
 *     triscope sim run examples/parcels.ts --pes=2 --synch=conservative --depots=20
 */
import { array, defineModel, float, int, type Random, ring, tally, word } from 'triscope/sim';

/** For each depot and destination the next depot on the shortest way: a ring of roads, and as many across at random. */
function waysThrough(depots: number, random: Random): Uint16Array {
  const length = new Float64Array(depots * depots).fill(Infinity);
  const next = new Uint16Array(depots * depots);
  const road = (a: number, b: number, hours: number) => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      if (hours >= length[from * depots + to]) continue;
      length[from * depots + to] = hours;
      next[from * depots + to] = to;
    }
  };
  for (let k = 0; k < depots; k++) {
    length[k * depots + k] = 0;
    next[k * depots + k] = k;
    road(k, (k + 1) % depots, 1 + random.exponential(1));
    road(k, random.integer(0, depots - 1), 2 + random.exponential(2));
  }
  for (let via = 0; via < depots; via++)
    for (let a = 0; a < depots; a++)
      for (let b = 0; b < depots; b++) {
        const hours = length[a * depots + via] + length[via * depots + b];
        if (hours >= length[a * depots + b]) continue;
        length[a * depots + b] = hours;
        next[a * depots + b] = next[a * depots + via];
      }
  return next;
}

const HOURS_OF_A_DAY = 24;

export default defineModel({
  name: 'parcels',
  help: 'parcels on their way from depot to depot',
  end: 240,
  lookahead: 0.1,
  options: {
    depots: int(12, 'depots', { min: 2, max: 1000 }),
    shops: int(36, 'shops', { min: 1 }),
    places: int(60, 'parcels that a depot has room for', { min: 1 }),
    lorry: int(8, 'parcels that a lorry holds', { min: 1 }),
    orders: float(1, 'orders per hour and shop, in the mean of a day', { min: 0 }),
  },
  lps: ({ depots, shops }) => depots + shops,
  tables: {
    next: (options, { random }) => waysThrough(options.depots, random),
  },
  prepare: (options, { tables }) => ({ ...options, next: tables.next }),
  message: { kind: word(['order', 'parcel', 'lorry', 'delivery']), to: 'u16', since: 'f64' },
  typeOf: (lp, { depots }) => (lp < depots ? 'depot' : 'shop'),
  types: {
    depot: {
      // Nothing reaches a depot within half an hour: a PE that has only depots goes so far ahead.
      lookahead: 0.5,
      state: {
        waiting: ring({ to: 'u16', since: 'f64' }, ({ places }) => places),
        sentOn: array('u32', ({ depots }) => depots),
        refused: 'u32',
      },
      init: (lp) => {
        lp.send(lp.id, lp.uniform()).kind = 'lorry';
      },
      forward(lp, { kind, to, since }) {
        const { state, params } = lp;
        const { depots, next, lorry } = params;
        if (kind === 'parcel') {
          if (state.waiting.length < state.waiting.capacity) state.waiting.push({ to, since });
          else state.refused++;
          return;
        }
        for (let n = Math.min(lorry, state.waiting.length); n > 0; n--) {
          const parcel = state.waiting.shift();
          if (parcel.to === lp.id) {
            const customer = depots + lp.integer(0, params.shops - 1);
            const delivery = lp.send(customer, 0.1 + lp.exponential(1));
            delivery.kind = 'delivery';
            delivery.since = parcel.since;
          } else {
            const by = next[lp.id * depots + parcel.to];
            state.sentOn.set(by, state.sentOn.get(by) + 1);
            const sent = lp.send(by, 1 + lp.exponential(1));
            sent.kind = 'parcel';
            sent.to = parcel.to;
            sent.since = parcel.since;
          }
        }
        lp.send(lp.id, 1).kind = 'lorry';
      },
      final(lp, results) {
        results.add('refused', lp.state.refused);
        results.add('waiting', lp.state.waiting.length);
        let sent = 0;
        for (let k = 0; k < lp.state.sentOn.length; k++) sent += lp.state.sentOn.get(k);
        results.add('rides', sent);
      },
    },
    shop: {
      state: { ordered: 'u32', time: tally() },
      init: (lp) => {
        lp.send(lp.id, lp.exponential(1)).kind = 'order';
      },
      forward(lp, { kind, since }) {
        const { state, params } = lp;
        if (kind === 'delivery') {
          state.time.add(lp.now - since);
          return;
        }
        state.ordered++;
        const parcel = lp.send(lp.integer(0, params.depots - 1), 0.5);
        parcel.kind = 'parcel';
        parcel.to = lp.integer(0, params.depots - 1);
        parcel.since = lp.now;
        // Busy at noon, quiet at midnight.
        const rate = 1 - 0.8 * lp.cos((2 * Math.PI * lp.now) / HOURS_OF_A_DAY);
        lp.send(lp.id, lp.exponential(1 / (params.orders * rate))).kind = 'order';
      },
      final(lp, results) {
        results.add('ordered', lp.state.ordered);
        results.add('delivered', lp.state.time.count);
      },
    },
  },
});
