/**
 * Dragonfly (Kim, Dally, Scott, Abts, 2008): groups of `a` routers, all joined to each other, each with `p` terminals and `h` links to
 * other groups. With a·h + 1 groups, one link joins each pair of groups.
 *
 *     ports 0…a-2: the other routers of the group, in order      ports a-1…a+h-2: links to other groups
 *     link k of group i (k = router × h + port): to group (i + k + 1) mod g, whose link is a·h - 1 - k
 */
import { directRoutes, type Ways } from './direct.ts';
import { circlePlace, type NetworkTopology } from './topology.ts';

/** Sizes of a dragonfly. */
export interface DragonflyOptions {
  /** Number of terminals of each router. */
  readonly p: number;
  /** Number of routers of each group. */
  readonly a: number;
  /** Number of links of each router to other groups. */
  readonly h: number;
  /** `minimal`, `valiant` (by a random group) or `ugal`. */
  readonly routing: string;
}

/**
 * A dragonfly of the greatest size, with one link between each pair of groups.
 * @example
 * ```ts
 * import { dragonfly } from 'triscope/sim/networks';
 *
 * console.log(dragonfly({ p: 4, a: 8, h: 4, routing: 'minimal' }).routers); // 264, in 33 groups
 * ```
 */
export function dragonfly({ p, a, h, routing }: DragonflyOptions): NetworkTopology {
  const ports = a - 1 + h;
  const groups = a * h + 1;
  const routers = groups * a;
  const isGlobal = (port: number) => port >= a - 1;
  /** Port of a router to another of its group. */
  const local = (router: number, to: number) => (to > router ? (to % a) - 1 : to % a);
  /** Number of the link from one group to another. */
  const linkTo = (from: number, to: number) => (to - from - 1 + groups) % groups;
  const groupOf = (router: number) => Math.floor(router / a);
  /** The router of a group that has its link to another group. */
  const gate = (from: number, to: number) => from * a + Math.floor(linkTo(from, to) / h);

  const ways: Ways = {
    places: groups,
    placeOf: groupOf,
    home: (terminal) => Math.floor(terminal / p),
    port(router, to) {
      const group = groupOf(to);
      return group === groupOf(router) ? local(router, to) : ways.portToPlace(router, group);
    },
    portToPlace(router, place) {
      const here = groupOf(router);
      const at = gate(here, place);
      return at === router ? a - 1 + (linkTo(here, place) % h) : local(router, at);
    },
    hops(router, to) {
      const from = groupOf(router);
      const group = groupOf(to);
      if (from === group) return router === to ? 0 : 1;
      return 1 + (gate(from, group) === router ? 0 : 1) + (gate(group, from) === to ? 0 : 1);
    },
    hopsBy(router, place, to) {
      const from = groupOf(router);
      const first = gate(from, place) === router ? 1 : 2;
      return first + ways.hops(gate(place, from), to);
    },
    // A channel for each group on a packet's route: no packet waits for one that has passed fewer groups.
    channel: (_router, from, channel) => channel + (from >= 0 && isGlobal(from) ? 1 : 0),
  };

  return {
    routers,
    ports,
    concentration: p,
    hasTerminals: () => true,
    channels: routing === 'minimal' ? 2 : 3,
    longest: routing === 'minimal' ? 3 : 5,
    isLong: (_router, port) => isGlobal(port),
    links() {
      const links = new Int32Array(routers * ports).fill(-1);
      for (let r = 0; r < routers; r++) {
        const first = groupOf(r) * a;
        for (let to = first; to < first + a; to++)
          if (to !== r) links[r * ports + local(r, to)] = to * ports + local(to, r);
        for (let j = 0; j < h; j++) {
          const k = (r % a) * h + j;
          const there = (groupOf(r) + k + 1) % groups;
          const back = a * h - 1 - k;
          const gateThere = there * a + Math.floor(back / h);
          links[r * ports + a - 1 + j] = gateThere * ports + a - 1 + (back % h);
        }
      }
      return links;
    },
    routes: () => directRoutes(routing, ways),
    // Groups in a circle, each a circle of its routers.
    place(router) {
      const [x, y] = circlePlace(groupOf(router), groups);
      const [dx, dy] = circlePlace(router % a, a);
      const apart = a / Math.PI + 1;
      return [x * apart + dx, y * apart + dy];
    },
    // All terminals of a group send to the next group: one link for a·p terminals.
    worst(terminal, view) {
      const group = (Math.floor(terminal / (a * p)) + 1) % groups;
      return group * a * p + view.integer(0, a * p - 1);
    },
  };
}
