/** What a network is made of: routers, terminals, links, and the ways that packets take. */

/** What routing may know where a packet is: the queues of that router, and its random stream. */
export interface RouterView {
  /** `load` of a port: packets that wait for it, and packets sent there whose credits have not come back. */
  readonly state: { readonly load: { get(port: number): number } };
  /** A random integer from `lo` to `hi`, both included. */
  integer(lo: number, hi: number): number;
}

/** The ways that packets take. A packet may go by an intermediate place, its `via`: what the number means is the topology's to say; -1 is none. */
export interface Routes {
  /**
   * Asked once for each packet, at its first router.
   * @param router number of the router at which the packet is
   * @param to number of the terminal to which it goes
   * @returns the place by which it goes; -1 for none
   */
  via(router: number, to: number, view: RouterView): number;
  /**
   * Whether a packet has reached its `via`, and goes straight to its terminal from here on.
   * @param router number of the router at which the packet is
   */
  reached(router: number, via: number): boolean;
  /**
   * The output port to the next router, where terminal `to` is not at this one.
   * @param router number of the router at which the packet is
   * @param to number of the terminal to which it goes
   * @param via the place by which it goes; -1 for none, or once it is reached
   */
  port(router: number, to: number, via: number, view: RouterView): number;
  /**
   * The virtual channel on which the packet leaves, from 0 on. For a network without deadlock, channels in use must not form a circle.
   * @param router number of the router at which the packet is
   * @param from port by which the packet came; -1 from a terminal
   * @param channel channel on which it came
   * @param port output port
   */
  channel(router: number, from: number, channel: number, port: number): number;
}

/** A network, for some values of a model's options. Routers and terminals are numbered from 0 on. */
export interface Topology {
  /** Number of routers. */
  readonly routers: number;
  /** Number of ports by which a router is joined to others, at most. */
  readonly ports: number;
  /** Number of terminals at a router that has any. Terminals are numbered in order of their routers. */
  readonly concentration: number;
  /** Whether a router has terminals. @param router its number */
  hasTerminals(router: number): boolean;
  /** Number of virtual channels on each link between routers that routing needs. */
  readonly channels: number;
  /** Number of links on the longest way that routing takes. */
  readonly longest: number;
  /** Whether the link at `port` of the router with the number `router` is a long one (`--global-latency`). */
  isLong?(router: number, port: number): boolean;
  /**
   * The links: for port `p` of router `r`, element r × ports + p is r2 × ports + p2, the port at the other end; -1 for none.
   * @throws ModelError for a network that cannot be
   */
  links(): Int32Array;
  /** Makes what tells the ways, once per PE. @param links what `links` gave, shared by all PEs */
  routes(links: Readonly<ArrayLike<number>>): Routes;
  /** The terminal to which the one with the number `terminal` sends so that the network suffers most; undefined where no such pattern is known. */
  worst?(terminal: number, view: Pick<RouterView, 'integer'>): number;
}

/**
 * Links from a list of pairs of routers: each pair takes the first free port at both.
 * @throws RangeError where a router has more than `ports` links
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
