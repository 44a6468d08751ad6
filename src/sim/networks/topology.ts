/** What a network consists of: routers, terminals, links, and the routes of packets. */

/** What routing may know at a packet's router: the router's queues and random stream. */
export interface RouterView {
  /** `load` of a port: packets that wait for it, and packets sent there whose credits have not come back. */
  readonly state: { readonly load: { get(port: number): number } };
  /** A random integer from `lo` to `hi`, both included. */
  integer(lo: number, hi: number): number;
}

/** The routes of packets. A packet may go through an intermediate place, its `via`: a number of the topology's; -1 is none. */
export interface Routes {
  /**
   * Called once for each packet, at its first router.
   * @param router number of the router at which the packet is
   * @param to number of the terminal to which it goes
   * @returns the place through which it goes; -1 for none
   */
  via(router: number, to: number, view: RouterView): number;
  /**
   * Whether a packet has reached its `via`, and goes directly to its terminal from here on.
   * @param router number of the router at which the packet is
   */
  reached(router: number, via: number): boolean;
  /**
   * The output port to the next router, if terminal `to` is not at this one.
   * @param router number of the router at which the packet is
   * @param to number of the terminal to which it goes
   * @param via the place through which it goes; -1 for none, or once it is reached
   */
  port(router: number, to: number, via: number, view: RouterView): number;
  /**
   * The virtual channel on which the packet leaves, from 0 on. To avoid deadlock, channels in use must not form a circle.
   * @param router number of the router at which the packet is
   * @param from port by which the packet arrived; -1 from a terminal
   * @param channel channel on which it arrived
   * @param port output port
   */
  channel(router: number, from: number, channel: number, port: number): number;
}

/** A network, for given values of a model's options. Routers and terminals are numbered from 0 on. */
export interface NetworkTopology {
  /** Number of routers. */
  readonly routers: number;
  /** Greatest number of ports that join a router to others. */
  readonly ports: number;
  /** Number of terminals at a router that has any. Terminals are numbered in order of their routers. */
  readonly concentration: number;
  /** Whether a router has terminals. @param router its number */
  hasTerminals(router: number): boolean;
  /** Number of virtual channels that routing needs on each link between routers. */
  readonly channels: number;
  /** Number of links on the longest route. */
  readonly longest: number;
  /** Whether the link at `port` of the router with the number `router` is a long one (`--global-latency`). */
  isLong?(router: number, port: number): boolean;
  /**
   * The links: for port `p` of router `r`, element r × ports + p is r2 × ports + p2, the port at the other end; -1 for none.
   * @throws ModelError for an impossible network
   */
  links(): Int32Array;
  /** Makes the routes, once per PE. @param links what `links` returned, shared by all PEs */
  routes(links: Readonly<ArrayLike<number>>): Routes;
  /** Where an animation draws the router with the number `router`: [x, y], neighbours about 1 apart; all in a circle where it is not given. */
  place?(router: number): readonly [number, number];
  /** The terminal to which `terminal` sends in the pattern that is worst for the network; undefined if no such pattern is known. */
  worst?(terminal: number, view: Pick<RouterView, 'integer'>): number;
}

/**
 * Links from a list of pairs of routers: each pair takes the first free port at both.
 * @throws RangeError if a router has more than `ports` links
 */
export function linksOf(
  routers: number,
  ports: number,
  pairs: Iterable<readonly [number, number]>,
): Int32Array {
  const links = new Int32Array(routers * ports).fill(-1);
  const used = new Int32Array(routers);
  const next = (router: number) => {
    if (used[router] === ports) throw new RangeError(`router ${router} has over ${ports} links`);
    return router * ports + used[router]++;
  };
  for (const [a, b] of pairs) {
    const atA = next(a);
    const atB = next(b);
    links[atA] = atB;
    links[atB] = atA;
  }
  return links;
}

/** Place of one of `routers` in a circle, in which neighbours are about 1 apart. */
export function circlePlace(router: number, routers: number): readonly [number, number] {
  const angle = (2 * Math.PI * router) / routers;
  const radius = routers / (2 * Math.PI);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}
