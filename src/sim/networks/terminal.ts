/**
 * A terminal: makes packets, gives them to its router one after another, and receives those that are sent to it.
 *
 * Packets that wait at their source are not in a queue, which would grow without bound in a network that cannot take them. The
 * terminal knows only when the first of them was made, and draws the next when that one is sent. The times are those of
 * the same random process.
 */
import type { ReadonlyStructOf } from '../../model/struct.ts';
import type { Lp, LpView, Results } from '../model.ts';
import { quantiles } from '../statistic/quantiles.ts';
import { tally } from '../statistic/tally.ts';
import { inject, isReady, nicState, terminalOf } from './nic.ts';
import { CREDIT, type message, type NetworkParams, PACKET } from './packets.ts';

export const terminalState = {
  ...nicState,
  /** When the next packet was or will be made; its destination is drawn when it is sent. */
  next: 'f64',
  delivered: 'u32',
  /** Flits that arrived since `--warmup`. */
  flits: 'f64',
  /** Time from when a packet was made until its tail arrived; and number of links between routers on its route. */
  latency: tally(),
  latencies: quantiles({ from: 1, to: 1e7, error: 0.02 }),
  hops: tally(),
} as const;

type State = typeof terminalState;
type Terminal = Lp<State, typeof message, NetworkParams>;
type Message = ReadonlyStructOf<typeof message>;

export function initTerminal(lp: Terminal): void {
  const { state: s, params: p } = lp;
  s.credits = p.buffer;
  s.next = p.interval < Infinity ? lp.exponential(p.interval) : Infinity;
  makePackets(lp);
}

function makePackets(lp: Terminal): void {
  const { state: s, params: p } = lp;
  const terminal = terminalOf(lp);
  while (s.next < p.until && isReady(lp, s.next)) {
    inject(lp, p.pattern(terminal, lp), p.packetSize, s.next);
    s.next += lp.exponential(p.interval);
  }
}

export function handleTerminal(lp: Terminal, event: Message): void {
  if (event.kind === PACKET) {
    take(lp, event);
    return;
  }
  if (event.kind === CREDIT) lp.state.credits++;
  else lp.state.frees = false;
  makePackets(lp);
}

function take(lp: Terminal, packet: Message): void {
  const { state: s, now } = lp;
  const latency = now - packet.since;
  s.delivered++;
  if (now >= lp.warmup) s.flits += packet.flits;
  s.latency.add(latency);
  s.latencies.add(latency);
  s.hops.add(packet.hops);
}

export function finishTerminal(lp: LpView<State, NetworkParams>, results: Results): void {
  const { state: s, params: p } = lp;
  const measured = lp.now - lp.warmup;
  results.add('injected', s.injected);
  results.add('delivered', s.delivered);
  results.add('acceptedLoad', measured > 0 ? s.flits / measured / p.terminals : 0);
}
