/** What `--animate` draws and records of a network: where its LPs are, and what each link did. */
import type { Drawing, Instrument } from '../model.ts';
import { type message, type NetworkParams, terminalLp } from './packets.ts';
import { busyTime, type RouterState } from './router.ts';

/** Terminals are drawn around their router, at this share of the distance of two routers. */
const NEAR = 0.3;

export const drawing: Drawing<NetworkParams> = {
  at(lp, p) {
    const place = p.places[lp];
    if (place >= 0) return p.placeOf(place);
    const terminal = -1 - place;
    const [x, y] = p.placeOf(p.homes[terminal]);
    const angle = (2 * Math.PI * (terminal % p.concentration)) / p.concentration;
    return [x + NEAR * Math.cos(angle), y + NEAR * Math.sin(angle)];
  },
  links(lp, p) {
    const router = p.places[lp];
    if (router < 0) return [p.routerLps[p.homes[-1 - router]]];
    const radix = p.ports + p.concentration;
    return Array.from({ length: radix }, (_, port) => otherEnd(p, router, port)).filter(
      (there) => there >= 0,
    );
  },
};

/** LP at the other end of a port; -1: there is no link. */
function otherEnd(p: NetworkParams, router: number, port: number): number {
  if (port < p.ports) {
    const there = p.links[router * p.ports + port];
    return there < 0 ? -1 : p.routerLps[Math.floor(there / p.ports)];
  }
  const first = p.firstTerminals[router];
  return first < 0 ? -1 : terminalLp(p, first + port - p.ports);
}

/** Samples of a router: a row for each of its links, those to its terminals too. */
export const linkSamples: Instrument<RouterState, typeof message, NetworkParams> = {
  sample: {
    fields: { busy: 'f64', queued: 'u32', unreturned: 'u32', link: 'u16', link_to: 'u32' },
    rows: ({ params: p }) => p.ports + p.concentration,
    fill(lp, data, control, port) {
      const { state: s, params: p } = lp;
      const there = otherEnd(p, p.places[lp.id], port);
      control.collect = there >= 0;
      if (there < 0) return;
      data.busy = busyTime(lp, port);
      data.queued = s.waiting.get(port);
      data.unreturned = s.load.get(port) - s.waiting.get(port);
      data.link = port;
      data.link_to = there;
    },
  },
};
