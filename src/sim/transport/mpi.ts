/** PEs as the ranks of an MPI job: events in batches, GVT by non-blocking reductions. */
import type { MpiWorld } from '../../os/mpi/world.ts';
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import type { HostRings } from './host-rings.ts';
import { ArrivingList, ListSlots } from './list-slots.ts';
import {
  BATCH_COLOUR,
  BATCH_FROM,
  BATCH_HEADER,
  BATCH_SLOTS,
  type BatchShape,
  BEGINS_ROUND,
  batchShape,
  TELLS_PROGRESS,
} from './mpi-batch.ts';
import { MpiGvt } from './mpi-gvt.ts';
import { BatchesIn } from './mpi-in.ts';
import { BatchesOut } from './mpi-out.ts';
import { MpiPromises } from './mpi-promises.ts';
import { Neighbours } from './neighbours.ts';
import type { RankProgress, RankTransport } from './rank-transport.ts';
import type { RingParts } from './threads.ts';
import type { Gvt, Receiver } from './transport.ts';

const { EXTRA, RECV, STATE } = layout;

/** Word of a slot that tells an event (its channel) from an anti-message (~channel). */
const CHANNEL_WORD = STATE;
/** Word of an anti-message: the rollback that sent it. */
const ROLLBACK_WORD = 0;

/** Turns without anything to do before a PE waits; during these turns it asks for GVT. */
const PATIENT_TURNS = 8;
/** Milliseconds of polling before a PE sleeps, and milliseconds that it sleeps. MPI moves nothing meanwhile. */
const SPIN_MS = 0.1;
const NAP_MS = 0.1;
/** The same if ranks share CPUs: polling takes CPU time from those that the rank waits for. */
const CROWDED_SPIN_MS = 0.01;
/**
 * Most milliseconds, and most turns, for which events for other ranks are held back to be collected. The duration of a turn is the
 * mean of this many turns, a power of two.
 */
const HOLD_MS = 0.04;
const MOST_HELD = 8;
const MEASURED = 64;
/** Most batches taken in one turn, so that a rank does not only receive. */
const MOST_TAKEN = 64;

/**
 * Bytes of batches that may be on their way to one rank, from all others together: MPI keeps those for which there is no receive yet, and
 * would take as much memory as they need. 256 MiB.
 */
const MOST_UNREAD_BYTES = 65_536;
const LEAST_UNREAD = 64;
/** Most ranks that tell each other of GVT rounds: each sends as many messages per round. */
const FEW_RANKS = 16;

export interface MpiLimits {
  /** Batches that a rank may have on their way; by default as many as memory is meant for. */
  readonly mostBatches?: number;
  /** Number of ranks up to which each tells all others that it has begun a GVT round; 16 by default. */
  readonly fewRanks?: number;
  /** Most slots of a batch; by default as many as are sent at once. */
  readonly batchSlots?: number;
  /** Most batches that one turn takes; 64 by default. */
  readonly mostTaken?: number;
  /** What rings in shared memory consist of, if not the usual parts. */
  readonly parts?: RingParts;
}

export class MpiTransport implements RankTransport {
  readonly slowGvt = true;
  readonly promises: boolean;
  readonly tells: boolean;
  readonly pe: number;
  readonly pes: number;
  private readonly gvt: MpiGvt;
  /** Ranks of this machine, if they share memory. */
  private readonly near: Neighbours | null;
  private readonly host: Pe;
  private readonly world: MpiWorld;
  private readonly shape: BatchShape;
  private readonly size: number;
  /** Between two ranks; how many batches of the other were taken with all that belongs to their events, and in all. */
  private readonly told: MpiPromises | null;
  private settled = 0;
  private taken = 0;
  /** Whether all that has arrived is known. */
  private looked = false;
  private readonly out: BatchesOut;
  private readonly in: BatchesIn;
  /** By sending rank. */
  private readonly arriving: (ArrivingList | null)[];
  private readonly list: ListSlots;
  private readonly spin: number;
  private readonly most: number;
  private readonly mostTaken: number;
  /** Number of turns so far; number of turns for which the collected slots have been held back, and may be. */
  private turns = 0;
  private held = 0;
  private hold = 1;
  private measured = performance.now();
  private readonly bed = new Int32Array(new SharedArrayBuffer(4));

  constructor(host: Pe, world: MpiWorld, rings: HostRings | null, limits: MpiLimits) {
    const { mostBatches, fewRanks = FEW_RANKS, batchSlots, mostTaken, parts } = limits;
    this.mostTaken = mostTaken ?? MOST_TAKEN;
    this.most = mostBatches ?? Math.max(LEAST_UNREAD, Math.floor(MOST_UNREAD_BYTES / world.size));
    this.host = host;
    this.world = world;
    this.spin = host.config.pin ? SPIN_MS : CROWDED_SPIN_MS;
    this.pe = world.rank;
    this.pes = world.size;
    this.gvt = new MpiGvt(world, world.size <= fewRanks, rings?.ranks.length);
    this.near = rings && new Neighbours(host, rings, world, this.gvt, parts);
    this.size = host.pool.stride * 2;
    this.shape = batchShape(this.size, batchSlots);
    this.promises = world.size === 2 && host.config.lookahead > 0;
    this.tells = this.promises;
    this.told = this.tells ? new MpiPromises(host.lookahead) : null;
    const sent = () => {
      const colour = this.gvt.batchSent();
      this.told?.send(this.gvt.batches);
      return colour;
    };
    this.out = new BatchesOut(world, this.shape, sent, this.told);
    this.in = new BatchesIn(world, this.shape);
    this.list = new ListSlots(host.signatures, this.size);
    this.arriving = new Array<ArrivingList | null>(world.size).fill(null);
  }

  get reductionsPerGvt(): number {
    return this.gvt.reductions;
  }

  post(pe: number, h: number, channel: number): void {
    const { F } = this.host.pool;
    this.gvt.post(F[h + RECV]);
    if (this.near?.post(pe, h, channel)) return;
    this.write(pe, h, channel);
    // Here, because the batch so far may have been sent meanwhile.
    this.told?.post(F[h + RECV]);
  }

  private write(pe: number, h: number, channel: number): void {
    const { I } = this.host.pool;
    const { out, size } = this;
    const i = h << 1;
    const at = out.slot(pe);
    const { words } = out;
    for (let k = 0; k < size; k++) words[at + k] = I[i + k];
    words[at + CHANNEL_WORD] = channel;
    if (I[i + EXTRA] === 0) words[at + EXTRA] = 0;
    else {
      words[at + EXTRA] = this.list.write(h);
      this.postList(pe);
    }
  }

  private postList(pe: number): void {
    const { list, out, size } = this;
    for (let from = 0; from < list.filled; from += size) {
      const at = out.slot(pe);
      for (let k = 0; k < size; k++) out.words[at + k] = list.words[from + k];
    }
  }

  cancel(pe: number, channel: number, time: number, rollback: number): void {
    this.gvt.post(time);
    if (this.near?.cancel(pe, channel, rollback)) return;
    const at = this.out.slot(pe);
    const { words } = this.out;
    words[at + CHANNEL_WORD] = ~channel;
    words[at + EXTRA] = 0;
    words[at + ROLLBACK_WORD] = rollback;
    this.told?.post(time);
  }

  /**
   * Sends what is collected, or holds it back: a message costs about as much as several events, and most events can
   * wait. It is not held back while this rank is idle, nor while others wait for this one.
   */
  flush(): void {
    this.near?.flush();
    if ((this.turns++ & (MEASURED - 1)) === 0) this.measure();
    if (!this.out.gathered) return;
    if (++this.held < this.hold && !this.gvt.urgent) return;
    this.send();
  }

  private send(): void {
    this.held = 0;
    this.out.flush();
  }

  private measure(): void {
    const now = performance.now();
    const turn = (now - this.measured) / MEASURED;
    this.measured = now;
    this.hold = Math.max(1, Math.min(MOST_HELD, Math.floor(HOLD_MS / turn)));
  }

  full(): boolean {
    return this.gvt.unacknowledged >= this.most;
  }

  drain(receiver: Receiver): number {
    const { in: arrivals, gvt } = this;
    let total = this.near?.drain(receiver) ?? 0;
    if (!this.looked) this.look();
    this.looked = false;
    for (let n = arrivals.known; n > 0; n--) {
      const at = arrivals.at(0);
      const { words } = arrivals;
      const from = words[at + BATCH_FROM];
      const slots = words[at + BATCH_SLOTS];
      const colour = words[at + BATCH_COLOUR];
      if (slots > 0) gvt.batchReceived(from, colour);
      else if (colour === BEGINS_ROUND) gvt.cutBy(from);
      for (let s = 0; s < slots; s++) {
        this.take(words, at + BATCH_HEADER + s * this.size, from, receiver);
      }
      total += slots;
      if (slots > 0) this.taken++;
      arrivals.release();
    }
    return total;
  }

  /** Looks for what has arrived, as far as the next `drain` takes it; whether there is anything. */
  private look(): boolean {
    const { in: arrivals, told } = this;
    while (arrivals.known < this.mostTaken && arrivals.look()) {
      told?.hear(arrivals.words, arrivals.doubles, arrivals.at(arrivals.known - 1));
    }
    return arrivals.known > 0;
  }

  private take(words: Int32Array, at: number, from: number, receiver: Receiver): void {
    const { size } = this;
    if (this.arriving[from] !== null) {
      this.takeList(words, at, from, receiver);
      return;
    }
    const channel = words[at + CHANNEL_WORD];
    if (channel < 0) {
      receiver.cancelled(from, ~channel, words[at + ROLLBACK_WORD]);
      return;
    }
    const { I } = this.host.pool;
    const h = receiver.arriving();
    const i = h << 1;
    for (let k = 0; k < size; k++) I[i + k] = words[at + k];
    const length = I[i + EXTRA];
    I[i + EXTRA] = 0;
    if (length === 0) {
      receiver.arrived(h, from, channel);
      return;
    }
    this.arriving[from] = new ArrivingList(h, channel, length, size);
  }

  private takeList(words: Int32Array, at: number, from: number, receiver: Receiver): void {
    const list = this.arriving[from] as ArrivingList;
    if (!list.take(words, at)) return;
    this.arriving[from] = null;
    list.adopt(this.host.signatures);
    receiver.arrived(list.h, from, list.channel);
  }

  requestGvt(): boolean {
    if (!this.gvt.idle) return false;
    this.cut();
    return true;
  }

  private cut(): void {
    this.send();
    this.gvt.cut();
    this.near?.cut();
    if (!this.gvt.tells) return;
    for (let rank = 0; rank < this.pes; rank++) {
      if (rank !== this.pe && !this.near?.has(rank)) this.out.tell(rank, BEGINS_ROUND);
    }
  }

  gvtWaits(): boolean {
    if (this.gvt.followed) this.cut();
    return this.gvt.awaits();
  }

  contribute(least: Gvt): void {
    this.send();
    this.gvt.contribute(least);
  }

  takeGvt(out: Gvt): boolean {
    return this.gvt.take(out);
  }

  ask(what: number): void {
    this.gvt.mine.asks |= what;
  }

  asked(): number {
    return this.gvt.asked;
  }

  /** A rise takes effect here at once, elsewhere from the next GVT on. */
  setPressure(level: number): void {
    const { gvt } = this;
    if (level > gvt.pressure) gvt.mine.pressure = level;
    else gvt.mine.ease = true;
  }

  pressure(): number {
    return Math.max(this.gvt.pressure, this.gvt.mine.pressure);
  }

  report(_gvt: number, committed: number, rolledBack: number): void {
    this.gvt.mine.committed = committed;
    this.gvt.mine.rolledBack = rolledBack;
  }

  /** Batches are never held back for lack of room; events to neighbours are. */
  get heldBack(): number {
    return this.near?.heldBack ?? 0;
  }

  get batches(): number {
    return this.gvt.batches;
  }

  progress(): RankProgress {
    const { gvt, committed, rolledBack } = this.gvt;
    return { gvt, committed, rolledBack };
  }

  /** Stops the run: all ranks, at the next GVT. */
  stop(): void {
    this.gvt.mine.stop = true;
    if (this.pes === 1) this.gvt.stopped = true;
  }

  stopped(): boolean {
    return this.gvt.stopped;
  }

  tell(least: number, until: number): void {
    const { told } = this;
    if (told === null) return;
    const other = 1 - this.pe;
    // An event has not arrived before its list has.
    if (this.arriving[other] === null) this.settled = this.taken;
    told.promise(least, until, this.settled);
    if (told.isNews) this.sendNews(other, told);
  }

  private sendNews(other: number, told: MpiPromises): void {
    if (this.out.gathered) this.send();
    else {
      told.send(this.gvt.batches);
      this.out.tell(other, TELLS_PROGRESS);
    }
  }

  lbts(): number {
    if (this.told === null) return -Infinity;
    this.look();
    this.looked = true;
    return this.told.lbts();
  }

  withdraw(): void {
    const { told } = this;
    if (told === null) return;
    told.withdraw();
    if (told.isNews) this.sendNews(1 - this.pe, told);
  }

  toldFrom(time: number): boolean {
    const { told } = this;
    if (told === null) return false;
    if (!told.toldFrom(time)) this.look();
    return told.toldFrom(time);
  }

  rest(turns: number): void {
    this.send();
    this.near?.flush();
    if (turns <= PATIENT_TURNS) return;
    this.gvt.hurry();
    const until = performance.now() + this.spin;
    do {
      if (this.look() || this.gvt.look() || this.gvt.awaits() || this.near?.awaited()) return;
    } while (performance.now() < until);
    // Lets other ranks on the same CPU run.
    Atomics.wait(this.bed, 0, 0, NAP_MS);
  }

  /** Called after the last GVT, by all ranks. What has been sent since, such as what a stop undoes, must not reach a later run. */
  close(): void {
    const { in: arrivals, world } = this;
    const sent = world.reduction(this.pes, (from, into) => {
      for (let k = 0; k < from.length; k++) into[k] += from[k];
    });
    sent.mine.set(this.out.sentTo);
    sent.start();
    while (!sent.done() || arrivals.processed < sent.all[this.pe]) {
      if (!this.look()) Atomics.wait(this.bed, 0, 0, NAP_MS);
      while (arrivals.known > 0) arrivals.release();
    }
    sent.close();
    this.in.close();
    this.gvt.close();
  }
}
