/**
 * An open Jackson network: M/M/1 stations, customers that come from outside, go from station to station
 * and leave (J. R. Jackson, "Networks of Waiting Lines", 1957). Its exact means are known, so what the
 * simulator measures can be checked. No `reverse`: the engine undoes the writes.
 */

import { array, ring } from '../../model/fields.ts';
import { flag, float, int, oneOf } from '../../model/option.ts';
import type { ReadonlyArrayView, StructOf } from '../../model/struct.ts';
import { defineModel } from '../define-model.ts';
import { ModelError } from '../model.ts';

/** The measured part of the run is cut into this many batches of equal length. */
const BATCHES = 20;
/** Student's t for a 95 % interval from BATCHES means: 19 degrees of freedom. */
const T95 = 2.093;
/** Most customers at one station. */
const CAPACITY = 512;

const POSITIVE = { min: Number.MIN_VALUE };

/** The kinds of events. */
const FROM_OUTSIDE = 0;
const FROM_STATION = 1;
const SERVED = 2;

const state = {
  /** Arrival times of the customers here; the oldest is in service. */
  present: ring('f64', CAPACITY),
  /** Time up to which `area` and `busy` are summed. */
  since: 'f64',
  /** Customers that came from outside, and that left the network from here, in the whole run. */
  entered: 'u32',
  left: 'u32',
  /** Per batch: customers served, their times here, the integrals of customers present and of being busy. */
  served: array('u32', BATCHES),
  sojourn: array('f64', BATCHES),
  area: array('f64', BATCHES),
  busy: array('f64', BATCHES),
  sojournSquares: 'f64',
} as const;

type State = StructOf<typeof state>;

/** The measured time: from `from` on, in batches of `length`. */
interface Measured {
  readonly from: number;
  readonly length: number;
}

function batchOf(m: Measured, time: number): number {
  return Math.max(0, Math.min(BATCHES - 1, Math.floor((time - m.from) / m.length)));
}

/** How much of `from`…`to` lies in batch `b`. */
function overlap(m: Measured, b: number, from: number, to: number): number {
  const start = m.from + b * m.length;
  const end = m.from + (b + 1) * m.length;
  return Math.max(0, Math.min(to, end) - Math.max(from, start));
}

/** Brings the integrals up to `now`. Call it before the number of customers changes. */
function integrate(s: State, m: Measured, now: number): void {
  const here = s.present.length;
  if (here > 0 && now > m.from) {
    const last = batchOf(m, now);
    for (let b = batchOf(m, s.since); b <= last; b++) {
      const time = overlap(m, b, s.since, now);
      s.area.set(b, s.area.get(b) + here * time);
      s.busy.set(b, s.busy.get(b) + time);
    }
  }
  s.since = now;
}

/** Mean of batch means, and half the width of its 95 % confidence interval. */
function interval(means: readonly number[]): { mean: number; halfWidth: number } {
  const n = means.length;
  const mean = means.reduce((sum, x) => sum + x, 0) / n;
  const variance = means.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1);
  return { mean, halfWidth: T95 * Math.sqrt(variance / n) };
}

export default defineModel({
  name: 'queueing',
  help: 'open Jackson network of M/M/1 stations',
  end: 10000,
  lookahead: 0.5,
  options: {
    stations: int(8, 'stations per PE', { min: 1 }),
    'total-stations': int(0, 'stations of the whole run (instead of --stations)', { min: 0 }),
    arrival: float(0.3, 'customers from outside per time unit and station', POSITIVE),
    service: float(1, 'customers that a busy station serves per time unit', POSITIVE),
    leave: float(0.5, 'probability that a served customer leaves the network', { min: 0, max: 1 }),
    routing: oneOf(
      { uniform: 1, next: 2 },
      'uniform',
      'where the others go: any station, or id + 1',
    ),
    transfer: float(1, 'mean time between stations, lookahead included', { unit: 'virtual time' }),
    'warm-up': float(0.1, 'part of the run before statistics are collected', { min: 0, max: 0.9 }),
    'by-batch': flag(false, `also report the whole network's sums in each of ${BATCHES} batches`),
  },
  lps: (o, { pes }) => (o['total-stations'] > 0 ? o['total-stations'] : o.stations * pes),
  prepare(o, { lookahead, end, lps }) {
    if (o.transfer < lookahead) {
      throw new ModelError(
        `--transfer=${o.transfer} is less than --lookahead=${lookahead}: the mean includes the lookahead`,
      );
    }
    const load = o.arrival / o.leave;
    if (load >= o.service) {
      throw new ModelError(
        `unstable: ${load} customers per time unit arrive at each station (--arrival / --leave), but a station serves only --service=${o.service}; utilisation must be below 1`,
      );
    }
    const from = o['warm-up'] * end;
    return {
      betweenArrivals: 1 / o.arrival,
      meanService: 1 / o.service,
      leave: o.leave,
      uniform: o.routing === 'uniform',
      lookahead,
      extraTransfer: o.transfer - lookahead,
      stations: lps,
      byBatch: o['by-batch'],
      measured: { from, length: (end - from) / BATCHES },
    };
  },
  state,
  message: { kind: 'u8' },
  init(lp) {
    lp.send(lp.id, lp.exponential(lp.params.betweenArrivals)).kind = FROM_OUTSIDE;
  },
  forward(lp, message) {
    const { params: p, state: s, now } = lp;
    integrate(s, p.measured, now);
    if (message.kind === SERVED) {
      const time = now - s.present.shift();
      if (now >= p.measured.from) {
        const b = batchOf(p.measured, now);
        s.served.set(b, s.served.get(b) + 1);
        s.sojourn.set(b, s.sojourn.get(b) + time);
        s.sojournSquares += time * time;
      }
      if (lp.uniform() < p.leave) {
        s.left++;
      } else {
        const next = p.uniform ? lp.integer(0, p.stations - 1) : (lp.id + 1) % p.stations;
        lp.send(next, p.lookahead + lp.exponential(p.extraTransfer)).kind = FROM_STATION;
      }
    } else {
      if (s.present.length === CAPACITY) {
        throw new ModelError(`more than ${CAPACITY} customers at one station: lower the load`);
      }
      s.present.push(now);
      if (message.kind === FROM_OUTSIDE) {
        s.entered++;
        lp.send(lp.id, lp.exponential(p.betweenArrivals)).kind = FROM_OUTSIDE;
      }
      if (s.present.length > 1) return;
    }
    // A customer has just become the first in line: its service begins.
    if (s.present.length > 0) lp.send(lp.id, lp.exponential(p.meanService)).kind = SERVED;
  },
  instrument: {
    sample: {
      fields: { present: 'u32', entered: 'u32', left: 'u32', served: 'u32', oldest: 'f64' },
      fill(lp, data) {
        const s = lp.state;
        const here = s.present.length;
        data.present = here;
        data.entered = s.entered;
        data.left = s.left;
        data.served = total(s.served);
        // Time that the customer in service has spent here.
        data.oldest = here > 0 ? lp.now - s.present.get(0) : 0;
      },
    },
    traceEvent: {
      fields: { kind: 'u8' },
      fill(_lp, message, data) {
        data.kind = message.kind;
      },
    },
  },
  final(lp, results) {
    const { state: s, params: p, end } = lp;
    const m = p.measured;
    const here = s.present.length;
    const busy: number[] = [];
    const length: number[] = [];
    const sojourn: number[] = [];
    let served = 0;
    for (let b = 0; b < BATCHES; b++) {
      // The last stretch, up to the end; `final` must not change the state.
      const rest = here > 0 ? overlap(m, b, s.since, end) : 0;
      const busyTime = s.busy.get(b) + rest;
      const area = s.area.get(b) + here * rest;
      const n = s.served.get(b);
      busy.push(busyTime / m.length);
      length.push(area / m.length);
      if (n > 0) sojourn.push(s.sojourn.get(b) / n);
      served += n;
      if (p.byBatch) {
        results.count('busyTimeByBatch', b, busyTime);
        results.count('queueAreaByBatch', b, area);
        results.count('sojournTimeByBatch', b, s.sojourn.get(b));
        results.count('servedByBatch', b, n);
      }
    }
    results.add('measuredTime', m.length * BATCHES);
    results.add('entered', s.entered);
    results.add('left', s.left);
    results.add('served', served);
    results.add('sojournTime', total(s.sojourn));
    results.add('sojournTimeSquares', s.sojournSquares);
    const [u, l] = [interval(busy), interval(length)];
    const w = sojourn.length > 1 ? interval(sojourn) : { mean: 0, halfWidth: 0 };
    results.row('stations', {
      served,
      utilisation: u.mean,
      utilisationHalfWidth: u.halfWidth,
      queueLength: l.mean,
      queueLengthHalfWidth: l.halfWidth,
      sojourn: served > 0 ? total(s.sojourn) / served : 0,
      sojournHalfWidth: w.halfWidth,
    });
  },
});

function total(values: ReadonlyArrayView<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values.get(i);
  return sum;
}
