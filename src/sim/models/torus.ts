/**
 * A k-ary n-cube: routers in an n-dimensional grid with wrap-around, one LP each. Packets go dimension by
 * dimension, the shorter way round; each output link sends one packet at a time, first come, first served.
 *
 *     port 2d: towards the higher coordinate of dimension d      port 2d + 1: towards the lower
 */

import { array } from '../../model/fields.ts';
import { float, int } from '../../model/option.ts';
import type { ReadonlyArrayView, StructOf } from '../../model/struct.ts';
import { defineModel } from '../define-model.ts';
import { type Lp, ModelError, type Results } from '../model.ts';

const MAX_DIMENSIONS = 6;
const MAX_HOPS = 128;
const MAX_ROUTERS = 2 ** 24;
/** Latency bin b counts latencies from 2^(b/4) up to 2^((b+1)/4); the last one, all longer ones too. */
const LATENCY_BINS = 96;
const BINS_PER_LN = 4 / Math.LN2;

const state = {
  /** Time at which each output link has sent what was given to it. */
  busyUntil: array('f64', 2 * MAX_DIMENSIONS),
  /** Packets given to each output link. */
  sent: array('u32', 2 * MAX_DIMENSIONS),
  injected: 'u32',
  /** Of the packets that ended here: how many, and their latencies, waits for links and hops. */
  delivered: 'u32',
  latency: 'f64',
  longest: 'f64',
  waited: 'f64',
  latencies: array('u32', LATENCY_BINS),
  hops: array('u32', MAX_HOPS + 1),
} as const;

/** A packet on its way; or, with `injected` below 0, a router's own reminder to inject the next one. */
const message = { destination: 'i32', hops: 'u16', injected: 'f64', waited: 'f64' } as const;

interface Params {
  readonly k: number;
  readonly n: number;
  /** Distance in ids between neighbours in each dimension. */
  readonly strides: readonly number[];
  readonly interval: number;
  /** Time for which a packet occupies a link, and for one hop on free links. */
  readonly serialisation: number;
  readonly hop: number;
}

type Router = Lp<typeof state, typeof message, Params>;

/** Gives a packet to the output link on its way. */
function forwardPacket(lp: Router, to: number, injected: number, hops: number, waited: number) {
  const { state: s, params: p, now, id } = lp;
  // The first dimension in which the packet has not arrived, and the distance upwards in it.
  let d = 0;
  let up = 0;
  let here = 0;
  for (; d < p.n; d++) {
    const stride = p.strides[d];
    here = Math.floor(id / stride) % p.k;
    up = (Math.floor(to / stride) % p.k) - here;
    if (up !== 0) break;
  }
  if (up < 0) up += p.k;
  // Half-way round, both ways are as short: a coin decides.
  const upwards = up * 2 === p.k ? lp.uniform() < 0.5 : up * 2 < p.k;
  const there = upwards ? (here + 1 === p.k ? 0 : here + 1) : here === 0 ? p.k - 1 : here - 1;
  const port = 2 * d + (upwards ? 0 : 1);
  const wait = Math.max(0, s.busyUntil.get(port) - now);
  s.busyUntil.set(port, now + wait + p.serialisation);
  s.sent.set(port, s.sent.get(port) + 1);
  const packet = lp.send(id + (there - here) * p.strides[d], wait + p.hop);
  packet.destination = to;
  packet.hops = hops + 1;
  packet.injected = injected;
  packet.waited = waited + wait;
}

/** Another router, all equally likely. */
function anyOther(lp: Router): number {
  const other = lp.integer(0, lp.lps - 2);
  return other < lp.id ? other : other + 1;
}

function deliver(lp: Router, packet: Readonly<StructOf<typeof message>>): void {
  const s = lp.state;
  const latency = lp.now - packet.injected;
  s.delivered++;
  s.latency += latency;
  s.waited += packet.waited;
  if (latency > s.longest) s.longest = latency;
  const bin = Math.floor(BINS_PER_LN * lp.log(latency));
  const b = Math.max(0, Math.min(LATENCY_BINS - 1, bin));
  s.latencies.set(b, s.latencies.get(b) + 1);
  s.hops.set(packet.hops, s.hops.get(packet.hops) + 1);
}

function scheduleInjection(lp: Router): void {
  lp.send(lp.id, lp.exponential(lp.params.interval)).injected = -1;
}

function countAll(results: Results, name: string, bins: ReadonlyArrayView<number>): void {
  for (let b = 0; b < bins.length; b++) {
    const weight = bins.get(b);
    if (weight > 0) results.count(name, b, weight);
  }
}

export default defineModel({
  name: 'torus',
  help: 'k-ary n-cube network: dimension-order routing, a queue per link, uniform random traffic',
  end: 10000,
  lookahead: 1,
  options: {
    k: int(8, 'routers along each dimension', { min: 2 }),
    n: int(2, 'dimensions', { min: 1, max: MAX_DIMENSIONS }),
    interval: float(40, 'mean time between packets that a router injects', {
      min: Number.MIN_VALUE,
    }),
    'packet-size': float(16, 'size of a packet, in flits', { min: 0 }),
    bandwidth: float(1, 'flits per time unit that a link sends', {
      min: Number.MIN_VALUE,
    }),
    'hop-delay': float(1, 'time through a router and along a link, sending not included', {
      min: 0,
    }),
  },
  lps: (o) => o.k ** o.n,
  prepare(o, { lookahead, lps }): Params {
    if (lps > MAX_ROUTERS) {
      throw new ModelError(`--k=${o.k} --n=${o.n}: ${lps} routers; at most ${MAX_ROUTERS}`);
    }
    const longest = o.n * Math.floor(o.k / 2);
    if (longest > MAX_HOPS) {
      throw new ModelError(
        `--k=${o.k} --n=${o.n}: routes of up to ${longest} hops; at most ${MAX_HOPS}`,
      );
    }
    const serialisation = o['packet-size'] / o.bandwidth;
    const hop = serialisation + o['hop-delay'];
    if (!(hop > 0))
      throw new ModelError('--packet-size=0 --hop-delay=0: packets would take no time');
    if (hop < lookahead) {
      throw new ModelError(
        `a hop takes ${hop} (--packet-size / --bandwidth + --hop-delay), less than --lookahead=${lookahead}`,
      );
    }
    const strides = Array.from({ length: o.n }, (_, d) => o.k ** d);
    return { k: o.k, n: o.n, strides, interval: o.interval, serialisation, hop };
  },
  state,
  message,
  init: scheduleInjection,
  forward(lp, packet) {
    if (packet.injected < 0) {
      lp.state.injected++;
      forwardPacket(lp, anyOther(lp), lp.now, 0, 0);
      scheduleInjection(lp);
    } else if (packet.destination === lp.id) {
      deliver(lp, packet);
    } else {
      forwardPacket(lp, packet.destination, packet.injected, packet.hops, packet.waited);
    }
  },
  final(lp, results) {
    const { state: s, params: p } = lp;
    let sent = 0;
    let busiest = 0;
    for (let port = 0; port < 2 * p.n; port++) {
      sent += s.sent.get(port);
      // Packets that a link still has to send at the end do not count.
      const busy = s.sent.get(port) * p.serialisation - Math.max(0, s.busyUntil.get(port) - lp.end);
      const utilisation = lp.end > 0 ? busy / lp.end : 0;
      busiest = Math.max(busiest, utilisation);
    }
    results.add('injected', s.injected);
    results.add('delivered', s.delivered);
    results.add('hops', sent);
    results.add('latency', s.latency);
    results.add('waited', s.waited);
    results.max('latency', s.longest);
    results.max('linkUtilisation', busiest);
    countAll(results, 'latencyLog2Quarters', s.latencies);
    countAll(results, 'hops', s.hops);
    results.row('routers', {
      injected: s.injected,
      delivered: s.delivered,
      meanLatency: s.delivered > 0 ? s.latency / s.delivered : 0,
      busiestLink: busiest,
    });
  },
});
