/** Routes through networks whose routers all have terminals: minimal, Valiant's, and the better of both by local queues (UGAL-L). */
import { type OptionSpec, oneOf } from '../../model/option.ts';
import type { RouterView, Routes } from './topology.ts';

/** The option of a direct network that chooses its routing. */
export const routingOption = (): OptionSpec<string> =>
  oneOf(
    { minimal: 0, valiant: 1, ugal: 2 },
    'minimal',
    'shortest routes; through a random place; or the better of both by the queues of the first router (UGAL-L)',
  );

/** What a direct network tells about itself. Places are routers, or groups of routers. */
export interface Ways {
  /** Number of places through which packets may be routed. */
  readonly places: number;
  /** The place of a router. */
  placeOf(router: number): number;
  /** Router of a terminal. */
  home(terminal: number): number;
  /** Port of the next link on the shortest route to a router. */
  port(router: number, to: number): number;
  /** Port of the next link on the shortest route to a place that does not contain `router`. */
  portToPlace(router: number, place: number): number;
  /** Number of links on the shortest route. */
  hops(router: number, to: number): number;
  /** Number of links on the shortest route through a place. */
  hopsBy(router: number, place: number, to: number): number;
  channel: Routes['channel'];
}

/** A place that contains neither the packet nor its destination; -1 if there is no other. */
function otherPlace(ways: Ways, router: number, home: number, view: RouterView): number {
  const [low, high] = [ways.placeOf(router), ways.placeOf(home)].sort((a, b) => a - b);
  const excluded = low === high ? 1 : 2;
  if (ways.places <= excluded) return -1;
  let place = view.integer(0, ways.places - 1 - excluded);
  if (place >= low) place++;
  if (excluded === 2 && place >= high) place++;
  return place;
}

/** The routes of a direct network according to the option `routing`. */
export function directRoutes(routing: string, ways: Ways): Routes {
  return {
    via(router, to, view) {
      if (routing === 'minimal') return -1;
      const home = ways.home(to);
      if (home === router) return -1;
      const place = otherPlace(ways, router, home, view);
      if (routing === 'valiant' || place < 0) return place;
      const short = view.state.load.get(ways.port(router, home)) * ways.hops(router, home);
      const long =
        view.state.load.get(ways.portToPlace(router, place)) * ways.hopsBy(router, place, home);
      return short <= long ? -1 : place;
    },
    reached: (router, via) => ways.placeOf(router) === via,
    port: (router, to, via) =>
      via < 0 ? ways.port(router, ways.home(to)) : ways.portToPlace(router, via),
    channel: ways.channel,
  };
}
