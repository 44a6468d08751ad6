/** What routers and terminals send to each other, and what both know about their network. */

import type { Routes } from './topology.ts';
import type { Trace } from './trace.ts';
import type { Pattern } from './traffic.ts';

/** What an event means to its receiver. */
/** The head of a packet; at a terminal its tail. */
export const PACKET = 0;
/** A packet has left the buffer at the other end of `port`: there is room for one more on `channel`. */
export const CREDIT = 1;
/** To the LP itself: the link at `port`, which began to send at `since`, has finished. */
export const FREE = 2;

/** To oneself: a rank's computation is over. */
export const RUN = 3;

export const message = {
  kind: 'u8',
  port: 'u16',
  channel: 'u8',
  /** Of a packet: destination terminal, place through which it goes (-1: none), flits, links so far. */
  to: 'i32',
  via: 'i32',
  flits: 'u32',
  hops: 'u8',
  /** Which receive of a replayed rank takes it. */
  slot: 'u32',
  /** Virtual time at which the packet was made; of FREE: at which the link is free. */
  since: 'f64',
} as const;

/** Sizes of a network, and where its LPs are. */
export interface NetworkParams {
  readonly routes: Routes;
  /** Most ports to other routers; ports to terminals have the numbers after them. */
  readonly ports: number;
  readonly concentration: number;
  readonly channels: number;
  readonly terminals: number;
  /** Packets for which an input has room, on each channel. */
  readonly buffer: number;
  /** Times that a flit takes through a router, along a link, and along a long link. */
  readonly routerDelay: number;
  readonly latency: number;
  readonly globalLatency: number;
  isLong(router: number, port: number): boolean;
  /** For each LP: the number of its router, or -1 minus the number of its terminal. */
  readonly places: Readonly<ArrayLike<number>>;
  /** LP of each router; the LPs of its terminals follow it. */
  readonly routerLps: Readonly<ArrayLike<number>>;
  /** Router of each terminal. */
  readonly homes: Readonly<ArrayLike<number>>;
  /** First terminal of each router; -1: none. */
  readonly firstTerminals: Readonly<ArrayLike<number>>;
  /** Where a router is drawn. */
  placeOf(router: number): readonly [number, number];
  /** As in `NetworkTopology.links`. */
  readonly links: Readonly<ArrayLike<number>>;
  readonly packetSize: number;
  /** Mean time between packets that a terminal makes; Infinity for none. */
  readonly interval: number;
  /** Virtual time from which on no packets are made. */
  readonly until: number;
  readonly pattern: Pattern;
  /** What terminals replay instead of a pattern, where `isTraced`. */
  readonly trace: Trace;
  readonly isTraced: boolean;
  /** Bytes of a flit, where messages of a trace are cut into flits. */
  readonly flitBytes: number;
}

/** LP of a terminal. */
export function terminalLp(p: NetworkParams, terminal: number): number {
  return p.routerLps[p.homes[terminal]] + 1 + (terminal % p.concentration);
}

/** Time along the link at a port of a router. */
export function latencyAt(p: NetworkParams, router: number, port: number): number {
  return port < p.ports && p.isLong(router, port) ? p.globalLatency : p.latency;
}
