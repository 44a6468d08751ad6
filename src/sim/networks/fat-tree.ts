/**
 * A k-ary n-tree (Petrini, Vanneschi, 1997): k^n terminals, n levels of k^(n-1) switches, each with k links down and, below the top
 * level, k up. Every switch is reached from k^(level + 1) terminals below it, and all links have the same bandwidth.
 *
 *     switch = word × n + level; word: n - 1 digits of base k      ports 0…k-1: up, k…2k-1: down (level 0: its terminals instead)
 *     port u up of level l joins the switch of level l + 1 whose word has u as its digit l
 */
import { oneOf } from '../../model/option.ts';
import type { NetworkTopology, RouterView } from './topology.ts';

/** Sizes of a fat tree. */
export interface FatTreeOptions {
  /** Number of links of a switch in each direction, up and down. */
  readonly k: number;
  /** Number of levels. */
  readonly n: number;
  /** How a packet goes up: `dmodk` by its destination, `random`, or `adaptive` by the shortest queue. */
  readonly routing: string;
}

/** The option of a fat tree that chooses its routing. */
export const fatTreeRouting = () =>
  oneOf(
    { dmodk: 0, random: 1, adaptive: 2 },
    'adaptive',
    'the way up: by the destination (d mod k), random, or the shortest queue',
  );

/** The port up with the shortest queue; among equal ones, the next one from a random port on. */
function shortest(k: number, view: RouterView) {
  const first = view.integer(0, k - 1);
  let best = first;
  let least = view.state.load.get(first);
  for (let j = 1; j < k; j++) {
    const port = (first + j) % k;
    const load = view.state.load.get(port);
    if (load < least) {
      least = load;
      best = port;
    }
  }
  return best;
}

/**
 * A fat tree: k-ary, of n levels.
 * @example
 * ```ts
 * import { fatTree } from 'triscope/sim/networks';
 *
 * console.log(fatTree({ k: 4, n: 3, routing: 'adaptive' }).routers); // 48 switches, for 64 terminals
 * ```
 */
export function fatTree({ k, n, routing }: FatTreeOptions): NetworkTopology {
  const words = k ** (n - 1);
  const ports = n === 1 ? 0 : 2 * k;
  const powers = Array.from({ length: n + 1 }, (_, d) => k ** d);
  const digit = (value: number, d: number) => Math.floor(value / powers[d]) % k;

  return {
    routers: words * n,
    ports,
    concentration: k,
    hasTerminals: (router) => router % n === 0,
    channels: 1,
    longest: 2 * (n - 1),
    links() {
      const links = new Int32Array(words * n * ports).fill(-1);
      for (let word = 0; word < words; word++)
        for (let level = 0; level < n - 1; level++)
          for (let u = 0; u < k; u++) {
            const mine = digit(word, level);
            const above = (word + (u - mine) * powers[level]) * n + level + 1;
            const up = (word * n + level) * ports + u;
            const down = above * ports + k + mine;
            links[up] = down;
            links[down] = up;
          }
      return links;
    },
    routes: () => ({
      via: () => -1,
      reached: () => true,
      port(router, to, _via, view) {
        const level = router % n;
        const word = (router - level) / n;
        const home = Math.floor(to / k);
        // The terminal is below this switch: the switch's word agrees with that of the terminal's switch from digit `level` on.
        if (Math.floor(word / powers[level]) === Math.floor(home / powers[level]))
          return k + digit(home, level - 1);
        if (routing === 'dmodk') return digit(to, level);
        return routing === 'random' ? view.integer(0, k - 1) : shortest(k, view);
      },
      // Packets go up first and then down, so channels cannot form a circle.
      channel: () => 0,
    }),
    // The top level above the others; terminals are below all.
    place: (router) => [Math.floor(router / n), 2 * (n - 1 - (router % n))],
    // The digits of its number reversed: with d mod k, all k terminals of a switch would go up by one port.
    worst(terminal) {
      let to = 0;
      for (let d = 0; d < n; d++) to += digit(terminal, d) * powers[n - 1 - d];
      return to;
    },
  };
}
