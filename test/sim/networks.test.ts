/** Networks: their shape, their ways, and how much traffic they take, against published numbers and counts by hand. */
import '../support/small-machine.ts';
import { type RunResult, simulate } from 'triscope/sim';
import { dragonfly, fatTree, type NetworkTopology, slimFly } from 'triscope/sim/networks';
import { describe, expect, test } from 'vitest';
import { PATTERNS, patternOf } from '../../src/sim/networks/traffic.ts';

const neighbours = (t: NetworkTopology): number[][] => {
  const links = t.links();
  return Array.from({ length: t.routers }, (_, r) =>
    Array.from(links.subarray(r * t.ports, (r + 1) * t.ports))
      .filter((there) => there >= 0)
      .map((there) => Math.floor(there / t.ports)),
  );
};

/** The greatest distance between two routers with terminals, in links. */
function diameterOf(t: NetworkTopology): number {
  const joined = neighbours(t);
  let longest = 0;
  for (let from = 0; from < t.routers; from++) {
    if (!t.hasTerminals(from)) continue;
    const distance = new Int32Array(t.routers).fill(-1);
    distance[from] = 0;
    const reached = [from];
    for (const r of reached)
      for (const to of joined[r])
        if (distance[to] < 0) {
          distance[to] = distance[r] + 1;
          reached.push(to);
        }
    if (reached.length < t.routers) return Infinity;
    for (let r = 0; r < t.routers; r++)
      if (t.hasTerminals(r)) longest = Math.max(longest, distance[r]);
  }
  return longest;
}

const homesOf = (t: NetworkTopology) =>
  Array.from({ length: t.routers }, (_, r) => r)
    .filter((r) => t.hasTerminals(r))
    .flatMap((r) => Array<number>(t.concentration).fill(r));

const SHAPES: readonly (readonly [string, NetworkTopology, Record<string, number>])[] = [
  // Besta and Hoefler (2014): the graph of Hoffman and Singleton, and the network of 10,830 terminals of their section V.
  [
    'Slim Fly, q = 5',
    slimFly({ q: 5, p: 0, routing: 'minimal' }),
    { routers: 50, degree: 7, diameter: 2, terminals: 200 },
  ],
  [
    'Slim Fly, q = 7',
    slimFly({ q: 7, p: 0, routing: 'minimal' }),
    { routers: 98, degree: 11, diameter: 2, terminals: 588 },
  ],
  [
    'Slim Fly, q = 19',
    slimFly({ q: 19, p: 0, routing: 'minimal' }),
    { routers: 722, degree: 29, diameter: 2, terminals: 10830 },
  ],
  // Kim et al. (2008): the example of their figure 5, and the network of their evaluation.
  [
    'dragonfly, a = 4',
    dragonfly({ p: 2, a: 4, h: 2, routing: 'minimal' }),
    { routers: 36, degree: 5, diameter: 3, terminals: 72 },
  ],
  [
    'dragonfly, a = 8',
    dragonfly({ p: 4, a: 8, h: 4, routing: 'minimal' }),
    { routers: 264, degree: 11, diameter: 3, terminals: 1056 },
  ],
  // Petrini and Vanneschi (1997): k^n terminals, n k^(n-1) switches.
  [
    '4-ary 3-tree',
    fatTree({ k: 4, n: 3, routing: 'adaptive' }),
    { routers: 48, degree: 8, diameter: 4, terminals: 64 },
  ],
];

test.each(SHAPES)(
  '%s has the routers, links and diameter that are published',
  (_name, t, facts) => {
    const links = t.links();
    expect(links.every((there, here) => there < 0 || links[there] === here)).toBe(true);
    const joined = neighbours(t);
    // No two links between the same two routers.
    expect(joined.every((others) => new Set(others).size === others.length)).toBe(true);
    expect({
      routers: t.routers,
      degree: Math.max(...joined.map((others) => others.length)),
      diameter: diameterOf(t),
      terminals: homesOf(t).length,
    }).toEqual(facts);
  },
);

/** Every pair of channels of which a packet may hold the first and wait for the second; ways end in `longest` links. @param places by which ways go */
function* waits(t: NetworkTopology, places: number): Generator<readonly [number, number]> {
  const links = t.links();
  const routes = t.routes(links);
  const homes = homesOf(t);
  let chosen = 0;
  const view = {
    state: { load: { get: (port: number) => (port === chosen ? 0 : 1) } },
    integer: (lo: number) => lo,
  };
  const choices = t.channels === 1 ? t.ports : 1;
  for (const from of new Set(homes))
    for (let to = 0; to < homes.length; to += t.concentration)
      for (let place = -1; place < places; place++)
        for (chosen = 0; chosen < choices; chosen++) {
          if (place >= 0 && (routes.reached(from, place) || routes.reached(homes[to], place)))
            continue;
          let via = place;
          let r = from;
          let input = -1;
          let channel = 0;
          let held = -1;
          let steps = 0;
          for (; r !== homes[to]; steps++) {
            if (steps > t.longest) throw new Error(`from ${from} to ${to} by ${place}: no end`);
            if (via >= 0 && routes.reached(r, via)) via = -1;
            const port = routes.port(r, to, via, view);
            channel = routes.channel(r, input, channel, port);
            if (!(channel >= 0 && channel < t.channels)) throw new Error(`channel ${channel}`);
            const next = (r * t.ports + port) * t.channels + channel;
            if (held >= 0) yield [held, next];
            held = next;
            const there = links[r * t.ports + port];
            r = Math.floor(there / t.ports);
            input = there % t.ports;
          }
        }
}

/** Whether a set of pairs has a circle. */
function hasCircle(pairs: Iterable<readonly [number, number]>): boolean {
  const after = new Map<number, Set<number>>();
  const before = new Map<number, number>();
  for (const [a, b] of pairs) {
    const set = after.get(a) ?? new Set<number>();
    if (set.has(b)) continue;
    set.add(b);
    after.set(a, set);
    before.set(b, (before.get(b) ?? 0) + 1);
  }
  const all = new Set([...after.keys(), ...before.keys()]);
  const free = [...all].filter((a) => !before.has(a));
  for (const a of free)
    for (const b of after.get(a) ?? []) {
      const left = (before.get(b) ?? 0) - 1;
      before.set(b, left);
      if (left === 0) free.push(b);
    }
  return free.length < all.size;
}

describe('Ways end, and channels wait for each other in no circle (Dally and Seitz, 1987)', () => {
  test.each<readonly [string, number, () => NetworkTopology]>([
    ['dragonfly, minimal', 0, () => dragonfly({ p: 2, a: 4, h: 2, routing: 'minimal' })],
    ['dragonfly, ugal', 9, () => dragonfly({ p: 2, a: 4, h: 2, routing: 'ugal' })],
    ['slimfly, minimal', 0, () => slimFly({ q: 5, p: 1, routing: 'minimal' })],
    ['slimfly, valiant', 18, () => slimFly({ q: 3, p: 1, routing: 'valiant' })],
    ['fattree, dmodk', 0, () => fatTree({ k: 3, n: 3, routing: 'dmodk' })],
    ['fattree, adaptive', 0, () => fatTree({ k: 3, n: 3, routing: 'adaptive' })],
  ])('%s', (_name, places, make) => {
    const topology = make();
    const pairs = [...waits(topology, places)];
    expect(pairs.length).toBeGreaterThan(topology.routers);
    expect(hasCircle(pairs)).toBe(false);
  });

  test('a ring without a second channel has one', () => {
    expect(hasCircle([0, 1, 2, 3].map((r) => [r, (r + 1) % 4] as const))).toBe(true);
  });
});

test('patterns: permutations are such, and nobody is left out of the others', () => {
  const draws = { uniform: () => 0.5, integer: (_lo: number, hi: number) => hi };
  const facts = {
    terminals: 36,
    shift: 5,
    hot: 0.6,
    worst: (t: number) => (t + 4) % 36,
  };
  const all = Array.from({ length: 36 }, (_, t) => t);
  const of = (name: string) => all.map((t) => patternOf(name, facts)(t, draws));
  for (const name of ['complement', 'transpose', 'shift', 'worst', 'neighbour'])
    expect(new Set(of(name)), name).toEqual(new Set(all));
  expect(of('complement')[3]).toBe(32);
  expect(of('transpose')[3]).toBe(18);
  expect(of('shift')[33]).toBe(2);
  expect(of('hotspot')).toEqual(Array(36).fill(0));
  expect(of('uniform')).toEqual([...Array(35).fill(35), 34]);
  expect(PATTERNS.length).toBe(7);
  expect(() => patternOf('transpose', { ...facts, terminals: 35 })).toThrow(/square number/);
  expect(() => patternOf('worst', { ...facts, worst: undefined })).toThrow(/no such pattern/);
});

type Options = Readonly<Record<string, number | string>>;

const run = (model: string, end: number, options: Options, warmup = 0): Promise<RunResult> =>
  simulate(model, { synch: 'sequential', end, warmup, options });

const tallyOf = (result: RunResult, name: string) => {
  const statistic = result.results.statistics[name];
  if (statistic?.kind !== 'tally') throw new Error(name);
  return statistic;
};

describe('Latency', () => {
  // Without traffic (Dally and Towles, 2004, section 3.3): H routers' and links' times, and the packet's length once.
  test.each(['fattree', 'dragonfly', 'slimfly'])(
    '%s: of single packets, as counted by hand',
    async (model) => {
      const options = {
        load: 0.0002,
        'packet-size': 3,
        'router-delay': 2,
        'link-latency': 7,
        'global-latency': 7,
      };
      const result = await run(model, 5000, options);
      const latency = tallyOf(result, 'terminal.latency');
      const hops = tallyOf(result, 'terminal.hops');
      expect(latency.count).toBeGreaterThan(10);
      expect(latency.mean).toBeCloseTo(7 + (Number(hops.mean) + 1) * (2 + 7) + 3, 9);
    },
  );

  test('of a source with one destination: the queue is M/D/1', async () => {
    const result = await run(
      'fattree',
      6000,
      { n: 1, k: 16, traffic: 'complement', load: 0.5 },
      500,
    );
    const latency = tallyOf(result, 'terminal.latency');
    // 15 on the way, and rho s / (2 (1 - rho)) of waiting for the link, by Pollaczek and Khinchine.
    const waiting = (0.5 * 4) / (2 * 0.5);
    expect(latency.count).toBeGreaterThan(10_000);
    expect(Math.abs(Number(latency.mean) - 15 - waiting)).toBeLessThan(0.08 * waiting);
  });
});

describe('Accepted load where every terminal offers all that its link takes', () => {
  test.each<readonly [string, Options, number, number]>([
    // Kim et al. (2008), figure 8: 1 / (a p) by the one link between two groups; half of the links by Valiant's ways; UGAL chooses.
    ['dragonfly', { traffic: 'worst', routing: 'minimal' }, 0.12, 0.13],
    ['dragonfly', { traffic: 'worst', routing: 'valiant' }, 0.4, 0.5],
    ['dragonfly', { traffic: 'worst', routing: 'ugal' }, 0.45, 0.5625],
    ['dragonfly', { traffic: 'uniform', routing: 'minimal' }, 0.87, 1],
    ['dragonfly', { traffic: 'uniform', routing: 'ugal' }, 0.87, 1],
    // A link carries the packets of two routers, 2 p terminals; by other ways there is room for more.
    ['slimfly', { p: 2, traffic: 'worst', routing: 'minimal' }, 0.24, 0.26],
    ['slimfly', { p: 2, traffic: 'worst', routing: 'ugal' }, 0.6, 1],
    // Of a switch's k terminals one sends within, the others by one port up: 2 / k. Adaptive ways meet nowhere for long.
    ['fattree', { traffic: 'worst', routing: 'dmodk' }, 0.48, 0.51],
    ['fattree', { traffic: 'worst', routing: 'adaptive' }, 0.92, 1],
  ])('%s %j: from %f to %f', async (model, options, low, high) => {
    const { totals } = (await run(model, 500, { load: 1, ...options }, 200)).results;
    expect(totals.acceptedLoad).toBeGreaterThan(low);
    expect(totals.acceptedLoad).toBeLessThan(high);
  });
});

// As many packets as the buffers take, and more: then all of them come, and all credits with them.
test.each<readonly [string, Options]>([
  ['dragonfly', { routing: 'minimal', traffic: 'worst' }],
  ['dragonfly', { routing: 'valiant', traffic: 'worst' }],
  ['dragonfly', { routing: 'ugal', traffic: 'hotspot', hot: 0.02 }],
  ['slimfly', { q: 3, routing: 'valiant', traffic: 'complement' }],
  ['fattree', { routing: 'random', traffic: 'complement' }],
])(
  '%s %j: small buffers overflow into no deadlock, and no packet or credit is lost',
  async (model, options) => {
    const { totals } = (
      await run(model, 20000, { load: 1, buffer: 1, 'inject-for': 50, ...options })
    ).results;
    expect(totals.injected).toBeGreaterThan(300);
    const { injected, delivered, inBuffers, uncredited } = totals;
    expect({ delivered, inBuffers, uncredited }).toEqual({
      delivered: injected,
      inBuffers: 0,
      uncredited: 0,
    });
  },
);

test('what does not go together is refused', async () => {
  const refused = (model: string, options: Options) => run(model, 10, options);
  await expect(refused('slimfly', { q: 9 })).rejects.toThrow(/--q=9: must be an odd prime/);
  await expect(refused('fattree', { 'link-latency': 0.5 })).rejects.toThrow(
    /less than --lookahead=1/,
  );
  await expect(refused('dragonfly', { traffic: 'transpose' })).rejects.toThrow(/square number/);
});
