/**
 * A router: packets come into the buffer of their input's virtual channel and wait there for their output link, in one queue for
 * each output and channel. A link sends a packet if the buffer at its other end has room (credits). The room that the packet
 * leaves is credited to its sender. Its head may leave before its tail has arrived (virtual cut-through, Kermani and
 * Kleinrock, 1979).
 *
 *     ports 0…P-1: to routers, P…P+C-1: terminals      queue of port p, channel c: p × channels + c
 *     slot: one packet in a buffer; slots are linked to queues by their number + 1 (0: none)
 */
import { array } from '../../model/fields.ts';
import type { ReadonlyStructOf } from '../../model/struct.ts';
import type { Lp, LpView, Results } from '../model.ts';
import {
  CREDIT,
  FREE,
  latencyAt,
  type message,
  type NetworkParams,
  PACKET,
  terminalLp,
} from './packets.ts';

/** The size of a router's state, from the options of its model. */
export interface RouterSizes {
  /** Number of ports, including those to terminals. */
  radix(options: object): number;
  /** Queues: ports by channels. */
  queues(options: object): number;
  /** Packets in all buffers. */
  slots(options: object): number;
}

export const routerState = ({ radix, queues, slots }: RouterSizes) =>
  ({
    /** Per port: until when its link sends, whether FREE is under way, packets that wait, the same plus packets without credit. */
    busyUntil: array('f64', radix),
    frees: array('u8', radix),
    waiting: array('u32', radix),
    load: array('u32', radix),
    /** The channel that was served last; packets and flits that were sent. */
    turn: array('u8', radix),
    packets: array('u32', radix),
    flits: array('f64', radix),
    /** Per queue: its first and last slot, and the number of packets for which there is room at the other end. */
    first: array('u32', queues),
    last: array('u32', queues),
    credits: array('u32', queues),
    /** Per slot: the next slot of its queue, or of the free slots; its packet; the input in whose buffer it is. */
    next: array('u32', slots),
    to: array('i32', slots),
    via: array('i32', slots),
    length: array('u32', slots),
    hops: array('u8', slots),
    since: array('f64', slots),
    slot: array('u32', slots),
    port: array('u16', slots),
    channel: array('u8', slots),
    /** First free slot, slots ever used, packets in the buffers. */
    free: 'u32',
    used: 'u32',
    held: 'u32',
  }) as const;

export type RouterState = ReturnType<typeof routerState>;
type State = RouterState;
export type Router = Lp<State, typeof message, NetworkParams>;
type Message = ReadonlyStructOf<typeof message>;

export function initRouter(lp: Router): void {
  lp.state.credits.fill(lp.params.buffer);
}

export function handleRouter(lp: Router, event: Message): void {
  const { state: s, params: p } = lp;
  const { port } = event;
  if (event.kind === PACKET) enter(lp, event);
  else if (event.kind === CREDIT) {
    const queue = port * p.channels + event.channel;
    s.credits.set(queue, s.credits.get(queue) + 1);
    s.load.set(port, s.load.get(port) - 1);
    serve(lp, port, false);
  } else {
    s.frees.set(port, 0);
    // If a packet that arrived at this very time has been sent already, the link is busy for longer.
    serve(lp, port, event.since === s.busyUntil.get(port));
  }
}

/** Puts a packet into its input's buffer, and into the queue of its output. */
function enter(lp: Router, packet: Message): void {
  const { state: s, params: p } = lp;
  const router = p.places[lp.id];
  const { to, port: input } = packet;
  const from = input < p.ports ? input : -1;
  let { via } = packet;
  let port: number;
  let channel = 0;
  if (p.homes[to] === router) port = p.ports + (to % p.concentration);
  else {
    if (from < 0) via = p.routes.via(router, to, lp);
    if (via >= 0 && p.routes.reached(router, via)) via = -1;
    port = p.routes.port(router, to, via, lp);
    channel = p.routes.channel(router, from, packet.channel, port);
  }
  const slot = takeSlot(lp);
  s.to.set(slot, to);
  s.via.set(slot, via);
  s.length.set(slot, packet.flits);
  s.hops.set(slot, packet.hops);
  s.since.set(slot, packet.since);
  s.slot.set(slot, packet.slot);
  s.port.set(slot, input);
  s.channel.set(slot, packet.channel);
  s.next.set(slot, 0);
  const queue = port * p.channels + channel;
  const last = s.last.get(queue);
  if (last === 0) s.first.set(queue, slot + 1);
  else s.next.set(last - 1, slot + 1);
  s.last.set(queue, slot + 1);
  s.waiting.set(port, s.waiting.get(port) + 1);
  s.load.set(port, s.load.get(port) + 1);
  serve(lp, port, false);
}

function takeSlot(lp: Router): number {
  const s = lp.state;
  s.held++;
  const free = s.free;
  if (free === 0) return s.used++;
  s.free = s.next.get(free - 1);
  return free - 1;
}

/** Sends the next packet of a port if its link is free and the other end has room. Channels take turns.
 * @param isFree the link is free, whatever `busyUntil` says */
function serve(lp: Router, port: number, isFree: boolean): void {
  const { state: s, params: p } = lp;
  if (s.waiting.get(port) === 0) return;
  if (!isFree && lp.now < s.busyUntil.get(port)) {
    awaitFree(lp, port);
    return;
  }
  const channels = port < p.ports ? p.channels : 1;
  let channel = s.turn.get(port);
  for (let k = 0; k < channels; k++) {
    channel = channel + 1 >= channels ? 0 : channel + 1;
    const queue = port * p.channels + channel;
    if (s.first.get(queue) === 0) continue;
    // Terminals take all that arrives.
    if (port < p.ports && s.credits.get(queue) === 0) continue;
    transmit(lp, port, channel);
    break;
  }
}

function awaitFree(lp: Router, port: number): void {
  const s = lp.state;
  if (s.frees.get(port) !== 0) return;
  s.frees.set(port, 1);
  const until = s.busyUntil.get(port);
  const event = lp.send(lp.id, until - lp.now);
  event.kind = FREE;
  event.port = port;
  event.since = until;
}

function transmit(lp: Router, port: number, channel: number): void {
  const { state: s, params: p, now } = lp;
  const router = p.places[lp.id];
  const queue = port * p.channels + channel;
  const slot = s.first.get(queue) - 1;
  const flits = s.length.get(slot);
  const after = s.next.get(slot);
  s.first.set(queue, after);
  if (after === 0) s.last.set(queue, 0);
  const waiting = s.waiting.get(port) - 1;
  s.waiting.set(port, waiting);
  s.turn.set(port, channel);
  s.busyUntil.set(port, now + flits);
  s.packets.set(port, s.packets.get(port) + 1);
  s.flits.set(port, s.flits.get(port) + flits);

  const head = p.routerDelay + latencyAt(p, router, port);
  if (port < p.ports) {
    s.credits.set(queue, s.credits.get(queue) - 1);
    const there = p.links[router * p.ports + port];
    const packet = lp.send(p.routerLps[Math.floor(there / p.ports)], head);
    packet.port = there % p.ports;
    packet.channel = channel;
    fill(packet, s, slot, 1);
  } else {
    s.load.set(port, s.load.get(port) - 1);
    fill(lp.send(terminalLp(p, s.to.get(slot)), head + flits), s, slot, 0);
  }
  credit(lp, router, slot, flits);

  s.next.set(slot, s.free);
  s.free = slot + 1;
  s.held--;
  if (waiting > 0) awaitFree(lp, port);
}

function fill(
  packet: { -readonly [K in keyof Message]: Message[K] },
  s: Router['state'],
  slot: number,
  links: number,
): void {
  packet.kind = PACKET;
  packet.to = s.to.get(slot);
  packet.via = s.via.get(slot);
  packet.flits = s.length.get(slot);
  packet.hops = s.hops.get(slot) + links;
  packet.since = s.since.get(slot);
  packet.slot = s.slot.get(slot);
}

/** Sends credit for a packet's slot to where the packet came from, once its tail has left. */
function credit(lp: Router, router: number, slot: number, flits: number): void {
  const { state: s, params: p } = lp;
  const input = s.port.get(slot);
  const delay = flits + latencyAt(p, router, input);
  if (input < p.ports) {
    const there = p.links[router * p.ports + input];
    const event = lp.send(p.routerLps[Math.floor(there / p.ports)], delay);
    event.kind = CREDIT;
    event.port = there % p.ports;
    event.channel = s.channel.get(slot);
  } else lp.send(lp.id + 1 + input - p.ports, delay).kind = CREDIT;
}

/** The time until `now` in which the link of a port was sending, without what it still has to send. */
export function busyTime(lp: LpView<State, NetworkParams>, port: number): number {
  const { state: s, now } = lp;
  return s.flits.get(port) - Math.max(0, s.busyUntil.get(port) - now);
}

export function finishRouter(lp: LpView<State, NetworkParams>, results: Results): void {
  const { state: s, params: p } = lp;
  const router = p.places[lp.id];
  let hops = 0;
  let busiest = 0;
  let sum = 0;
  let joined = 0;
  let uncredited = 0;
  for (let port = 0; port < p.ports; port++) {
    if (p.links[router * p.ports + port] < 0) continue;
    const share = lp.now > 0 ? busyTime(lp, port) / lp.now : 0;
    hops += s.packets.get(port);
    uncredited += s.load.get(port) - s.waiting.get(port);
    busiest = Math.max(busiest, share);
    sum += share;
    joined++;
  }
  results.add('hops', hops);
  results.add('inBuffers', s.held);
  results.add('uncredited', uncredited);
  if (joined > 0) results.max('linkUtilisation', busiest);
  results.row('routers', {
    packets: hops,
    inBuffers: s.held,
    ...(joined > 0 && { meanLink: sum / joined, busiestLink: busiest }),
  });
}
