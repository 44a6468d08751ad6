/** A terminal's link to its router: it sends one packet at a time, while the router has room. */
import type { Lp } from '../model.ts';
import { FREE, type message, type NetworkParams, PACKET } from './packets.ts';

export const nicState = {
  /** Number of packets for which the router has room. */
  credits: 'u32',
  /** Until when the link sends, and whether FREE is under way. */
  busyUntil: 'f64',
  frees: 'bool',
  injected: 'u32',
} as const;

type Nic = Lp<typeof nicState, typeof message, NetworkParams>;

export const terminalOf = (lp: { readonly id: number; readonly params: NetworkParams }): number =>
  -1 - lp.params.places[lp.id];

/** Whether a packet that was made at `made` may be sent now. If not, the event for which it waits will arrive. */
export function isReady(lp: Nic, made: number): boolean {
  const { state: s, now } = lp;
  if (s.credits === 0) return false; // until CREDIT
  const from = Math.max(made, s.busyUntil);
  if (from <= now) return true;
  if (!s.frees) {
    s.frees = true;
    const event = lp.send(lp.id, from - now);
    event.kind = FREE;
    event.since = from;
  }
  return false;
}

/** Sends a packet to the router. @param slot which receive of a replayed rank takes it */
export function inject(lp: Nic, to: number, flits: number, since: number, slot = 0): void {
  const { state: s, params: p } = lp;
  const terminal = terminalOf(lp);
  const packet = lp.send(p.routerLps[p.homes[terminal]], p.latency);
  packet.kind = PACKET;
  packet.port = p.ports + (terminal % p.concentration);
  packet.to = to;
  packet.via = -1;
  packet.flits = flits;
  packet.since = since;
  packet.slot = slot;
  s.credits--;
  s.busyUntil = lp.now + flits;
  s.injected++;
}
