/**
 * Slim Fly (Besta, Hoefler, 2014): the graphs of McKay, Miller and Širáň (1998), 2 q² routers of degree (3 q - δ) / 2, any two of which are
 * at most two links apart. q is a prime, q = 4 w + δ with δ = 1 or -1.
 *
 *     router (0, x, y) = x q + y        joined to (0, x, y') if y - y' is in X,
 *     router (1, m, c) = q² + m q + c   to (1, m, c') if c - c' is in X', and both if y = m x + c
 */
import { ModelError } from '../model-error.ts';
import { directRoutes } from './direct.ts';
import { linksOf, type NetworkTopology } from './topology.ts';

/** Sizes of a Slim Fly. */
export interface SlimFlyOptions {
  /** An odd prime number; there are 2 q² routers. */
  readonly q: number;
  /** Number of terminals of each router; 0: half of the number of its links, rounded up, which balances the network. */
  readonly p: number;
  /** `minimal`, `valiant` (by a random router) or `ugal`. */
  readonly routing: string;
}

/** Most routers: the table of routes has the square of this number of entries. */
const MOST_Q = 43;

function isOddPrime(q: number): boolean {
  for (let d = 2; d * d <= q; d++) if (q % d === 0) return false;
  return q > 2;
}

/** The powers of a primitive root: all numbers from 1 to q - 1. */
function powersOf(q: number): number[] {
  for (let root = 2; ; root++) {
    const powers = [1];
    for (let x = root % q; x !== 1; x = (x * root) % q) powers.push(x);
    if (powers.length === q - 1) return powers;
  }
}

/** The differences X and X' of neighbours; with each number they contain its negative. */
function generators(q: number): readonly [readonly number[], readonly number[]] {
  const powers = powersOf(q);
  const even = powers.filter((_, e) => e % 2 === 0);
  const odd = powers.filter((_, e) => e % 2 === 1);
  if (q % 4 === 1) return [even, odd];
  // q = 4 w - 1: the first w even powers and their negatives, which are odd powers; and those times the root.
  const w = (q + 1) / 4;
  const some = even.slice(0, w).flatMap((x) => [x, q - x]);
  const times = some.map((x) => (x * powers[1]) % q);
  return [some, times];
}

function* pairsOf(q: number): Generator<readonly [number, number]> {
  for (const [half, differences] of generators(q).entries())
    for (let x = 0; x < q; x++)
      for (let y = 0; y < q; y++)
        for (const d of differences) {
          const there = (y + d) % q;
          const first = (half * q + x) * q;
          if (y < there) yield [first + y, first + there];
        }
  for (let x = 0; x < q; x++)
    for (let y = 0; y < q; y++)
      for (let m = 0; m < q; m++) yield [x * q + y, q * q + m * q + ((((y - m * x) % q) + q) % q)];
}

/** For each router and destination the port of the next link (the lowest, of several routes of two links); 255 for the router itself. */
function nextPorts(routers: number, ports: number, links: Readonly<ArrayLike<number>>): Uint8Array {
  const next = new Uint8Array(routers * routers).fill(255);
  const neighbour = (r: number, port: number) => Math.floor(links[r * ports + port] / ports);
  for (let r = 0; r < routers; r++) {
    for (let port = 0; port < ports; port++) next[r * routers + neighbour(r, port)] = port;
    for (let port = 0; port < ports; port++) {
      const by = neighbour(r, port);
      for (let second = 0; second < ports; second++) {
        const to = neighbour(by, second);
        if (to !== r && next[r * routers + to] === 255) next[r * routers + to] = port;
      }
    }
  }
  return next;
}

/** All terminals of a router send to those of one that is two links away, in its own column: they share at least the first link. */
function worstOf(q: number, concentration: number): NetworkTopology['worst'] {
  const steps = generators(q).map((differences) => {
    for (let step = 1; step < q; step++) if (!differences.includes(step)) return step;
    return 0;
  });
  if (steps.includes(0)) return undefined; // q = 3: columns are completely joined
  return (terminal) => {
    const router = Math.floor(terminal / concentration);
    const y = router % q;
    const to = router - y + ((y + steps[Math.floor(router / (q * q))]) % q);
    return to * concentration + (terminal % concentration);
  };
}

/**
 * A Slim Fly.
 * @throws ModelError if `q` is no odd prime number, or above 43
 * @example
 * ```ts
 * import { slimFly } from 'triscope/sim/networks';
 *
 * const { routers, ports } = slimFly({ q: 5, p: 0, routing: 'minimal' });
 * console.log(routers, ports); // 50 routers with 7 links each: the graph of Hoffman and Singleton
 * ```
 */
export function slimFly({ q, p, routing }: SlimFlyOptions): NetworkTopology {
  if (!isOddPrime(q) || q > MOST_Q)
    throw new ModelError(`--q=${q}: must be an odd prime from 3 to ${MOST_Q}`);
  const routers = 2 * q * q;
  const ports = (3 * q - (q % 4 === 1 ? 1 : -1)) / 2;
  const concentration = p > 0 ? p : Math.ceil(ports / 2);
  const home = (terminal: number) => Math.floor(terminal / concentration);
  return {
    routers,
    ports,
    concentration,
    hasTerminals: () => true,
    channels: routing === 'minimal' ? 2 : 4,
    longest: routing === 'minimal' ? 2 : 4,
    links: () => linksOf(routers, ports, pairsOf(q)),
    routes(links) {
      const next = nextPorts(routers, ports, links);
      const port = (router: number, to: number) => next[router * routers + to];
      const hops = (router: number, to: number) => {
        if (router === to) return 0;
        return Math.floor(links[router * ports + port(router, to)] / ports) === to ? 1 : 2;
      };
      return directRoutes(routing, {
        places: routers,
        placeOf: (router) => router,
        home,
        port,
        portToPlace: port,
        hops,
        hopsBy: (router, place, to) => hops(router, place) + hops(place, to),
        // A channel for each link of a route: no packet waits for one that has passed fewer links.
        channel: (_router, from, channel) => (from < 0 ? 0 : channel + 1),
      });
    },
    worst: worstOf(q, concentration),
  };
}
