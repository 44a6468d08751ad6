/**
 * A terminal: makes packets, or replays a rank of a trace, gives them to its router one after another, and receives those that are sent to it.
 *
 * Packets that wait at their source are not in a queue, which would grow without bound in a network that cannot take them. The
 * terminal knows only when the first of them was made, and draws the next when that one is sent. The times are those of
 * the same random process.
 */
import type { ReadonlyStructOf } from '../../model/struct.ts';
import type { Lp, LpView, Results } from '../model.ts';
import { quantiles } from '../statistic/quantiles.ts';
import { tally } from '../statistic/tally.ts';
import { inject, isReady, terminalOf } from './nic.ts';
import { CREDIT, FREE, type message, type NetworkParams, PACKET } from './packets.ts';
import { computed, finishRank, replay, replayState } from './replay.ts';

/** @param receives of a replayed rank, at most, by the options of its model */
export const terminalState = (receives: (options: object) => number) =>
  ({
    ...replayState(receives),
    /** When the next packet was or will be made; its destination is drawn when it is sent. */
    next: 'f64',
    delivered: 'u32',
    /** Flits that arrived since `--warmup`. */
    flits: 'f64',
    /** Time from when a packet was made until its tail arrived; and number of links between routers on its route. */
    latency: tally(),
    latencies: quantiles({ from: 1, to: 1e7, error: 0.02 }),
    hops: tally(),
  }) as const;

type State = ReturnType<typeof terminalState>;
type Terminal = Lp<State, typeof message, NetworkParams>;
type Message = ReadonlyStructOf<typeof message>;

export function initTerminal(lp: Terminal): void {
  const { state: s, params: p } = lp;
  s.credits = p.buffer;
  const isSource = !p.isTraced && p.interval < Infinity;
  s.next = isSource ? lp.exponential(p.interval) : Infinity;
  proceed(lp);
}

function proceed(lp: Terminal): void {
  if (lp.params.isTraced) replay(lp);
  else makePackets(lp);
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
  const { state: s, params: p } = lp;
  if (event.kind === PACKET) {
    take(lp, event);
    if (!p.isTraced) return;
    s.arrived.set(event.slot, s.arrived.get(event.slot) + event.flits);
  } else if (event.kind === CREDIT) s.credits++;
  else if (event.kind === FREE) s.frees = false;
  else computed(lp);
  proceed(lp);
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
  if (measured > 0) results.add('acceptedLoad', s.flits / measured / p.terminals);
  if (p.isTraced) finishRank(lp, results);
}
