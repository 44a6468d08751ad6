/** PEs as worker threads of one process: rings on shared memory, GVT by shared words. */
import { monotonicMs } from '../../os/run-clock.ts';
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import { sharedLines } from '../reserved.ts';
import { type ControlMemory, EngineControl, type Sleep } from './control.ts';
import { Held } from './held.ts';
import { ArrivingList, ListSlots } from './list-slots.ts';
import { RingConsumer, RingProducer, ringBytes } from './ring.ts';
import { type Gvt, type Receiver, startOfTime, type Transport } from './transport.ts';
import { Unseen } from './unseen.ts';

const { BITS, DEST, EXTRA, PATH, PAYLOAD, RECV, SEND, SOURCE, STATE, TIE } = layout;

export interface ThreadMemory {
  readonly control: ControlMemory;
  /** rings[from][to] */
  readonly rings: readonly (readonly Int32Array[])[];
}

/** Shared memory for `pes` PEs whose event records have `stride` doubles. */
export function threadRings(
  pes: number,
  stride: number,
): readonly (readonly Int32Array<SharedArrayBuffer>[])[] {
  const bytes = ringBytes(stride * 2);
  const all = sharedLines(pes * pes * bytes);
  return Array.from({ length: pes }, (_, from) =>
    Array.from({ length: pes }, (_, to) => {
      const at = (from * pes + to) * (bytes / 4);
      return all.subarray(at, at + (from === to ? 0 : bytes / 4));
    }),
  );
}

/** Word of a slot that tells an event (its channel) from an anti-message (~channel). */
const CHANNEL_WORD = STATE;

const PAYLOAD_WORD = 2 * PAYLOAD;

/** Word of an anti-message: the rollback that sent it. */
const ROLLBACK_WORD = 0;

/** Turns without anything to do before a PE waits; during these turns it asks for GVT. */
const PATIENT_TURNS = 8;
/** Of so many looks for GVT rounds, one first makes visible what was flushed to be seen soon. */
const LOOKS_TO_SHOW = 16;
/** Milliseconds of polling before a PE sleeps. */
const SPIN_MS = 0.1;

/** What a transport consists of, if not the usual parts. */
export interface RingParts {
  readonly sleep?: Sleep;
  readonly producer?: (words: Int32Array, size: number) => RingProducer;
  readonly consumer?: (words: Int32Array, size: number) => RingConsumer;
}

const newProducer = (words: Int32Array, size: number) => new RingProducer(words, size);
const newConsumer = (words: Int32Array, size: number) => new RingConsumer(words, size);

/** What a transport needs from its PE, whose number is its place in the memory. */
type RingHost = Pick<Pe, 'number' | 'pool' | 'signatures'>;

export class ThreadTransport implements Transport {
  readonly pe: number;
  readonly pes: number;
  readonly slowGvt = false;
  readonly reductionsPerGvt = 1;
  readonly promises: boolean;
  readonly tells = true;
  readonly control: EngineControl;
  private readonly host: RingHost;
  private readonly size: number;
  private readonly out: readonly (RingProducer | null)[];
  private readonly in: readonly (RingConsumer | null)[];
  /** By destination: slots that wait for room. */
  private readonly held: readonly Held[];
  /** Slots that wait now, and the number that have waited so far. */
  private waiting = 0;
  heldBack = 0;
  private readonly flying = startOfTime();
  private readonly list: ListSlots;
  /** By sending PE: an event whose list has not fully arrived. */
  private readonly arriving: (ArrivingList | null)[];
  /** Least time posted since this PE last saw that no GVT round was open, or contributed to one. */
  private readonly least = new Float64Array([Infinity]);
  /** The other PE of two, otherwise -1; what it may not have taken into account, and how far this PE has taken its messages. */
  private readonly other: number;
  /** The rings to it and from it, and what waits for it: constants of the code that V8 compiles. Null with more PEs. */
  private readonly to: RingProducer | null;
  private readonly from: RingConsumer | null;
  private readonly waits: Held | null;
  private readonly unseen = new Unseen();
  private seen = 0;
  /** Whether the last `flush` may be seen later than at once; and the number of looks for GVT rounds after such ones. */
  private soon = false;
  private looks = 0;

  constructor(host: RingHost, memory: ThreadMemory, pes: number, parts: RingParts = {}) {
    const { producer = newProducer, consumer = newConsumer } = parts;
    this.host = host;
    this.pe = host.number;
    this.pes = pes;
    this.other = pes === 2 ? 1 - host.number : -1;
    this.promises = pes === 2;
    this.control = new EngineControl(memory.control, pes, parts.sleep);
    this.size = host.pool.stride * 2;
    const { size, pe } = this;
    this.out = memory.rings[pe].map((w, to) => (to === pe ? null : producer(w, size)));
    this.in = memory.rings.map((from, k) => (k === pe ? null : consumer(from[pe], size)));
    this.held = Array.from({ length: pes }, () => new Held());
    this.to = this.out[this.other] ?? null;
    this.from = this.in[this.other] ?? null;
    this.waits = this.held[this.other] ?? null;
    this.list = new ListSlots(host.signatures, size);
    this.arriving = new Array<ArrivingList | null>(pes).fill(null);
  }

  private posts(time: number): void {
    if (time < this.least[0]) this.least[0] = time;
    this.unseen.post(time);
  }

  readonly post = (pe: number, h: number, channel: number): void => {
    const { F, I } = this.host.pool;
    const time = F[h + RECV];
    this.posts(time);
    const i = h << 1;
    const extra = I[i + EXTRA] === 0 ? 0 : this.list.write(h);
    const ring = this.to ?? (this.out[pe] as RingProducer);
    const held = this.waits ?? this.held[pe];
    if (held.none && ring.room()) {
      const at = ring.next();
      const { words, doubles } = ring;
      // The words that the receiver needs, with times as doubles: half the stores of a copy word by word.
      const d = at >> 1;
      doubles[d + RECV] = time;
      doubles[d + SEND] = F[h + SEND];
      doubles[d + TIE] = F[h + TIE];
      words[at + DEST] = I[i + DEST];
      words[at + SOURCE] = I[i + SOURCE];
      words[at + PATH] = I[i + PATH];
      for (let k = PAYLOAD_WORD; k < this.size; k++) words[at + k] = I[i + k];
      words[at + CHANNEL_WORD] = channel;
      words[at + EXTRA] = extra;
    } else {
      const slot = I.slice(i, i + this.size);
      slot[CHANNEL_WORD] = channel;
      slot[EXTRA] = extra;
      this.hold(pe, slot, time);
    }
    if (extra > 0) this.postList(pe, ring, time);
  };

  /** Slot by slot, because a list may be longer than a ring. */
  private postList(pe: number, ring: RingProducer, time: number): void {
    const { list, size } = this;
    for (let from = 0; from < list.filled; from += size) {
      if (this.held[pe].none && ring.room()) {
        const to = ring.next();
        for (let k = 0; k < size; k++) ring.words[to + k] = list.words[from + k];
      } else this.hold(pe, list.words.slice(from, from + size), time);
    }
  }

  cancel(pe: number, channel: number, time: number, rollback: number): void {
    this.posts(time);
    const ring = this.out[pe] as RingProducer;
    if (this.held[pe].none && ring.room()) {
      const at = ring.next();
      ring.words[at + CHANNEL_WORD] = ~channel;
      ring.words[at + EXTRA] = 0;
      ring.words[at + ROLLBACK_WORD] = rollback;
      return;
    }
    const slot = new Int32Array(this.size);
    slot[CHANNEL_WORD] = ~channel;
    slot[ROLLBACK_WORD] = rollback;
    this.hold(pe, slot, time);
  }

  /** Keeps what the ring has no room for. Never blocks: two PEs that wait for each other would both stop. */
  private hold(pe: number, slot: Int32Array, time: number): void {
    this.held[pe].push(slot, time);
    this.waiting++;
    this.heldBack++;
  }

  flush(soon = false): void {
    this.soon = soon && this.other >= 0;
    if (this.waiting > 0) this.retry();
    let published = false;
    for (let pe = 0; pe < this.pes; pe++) {
      const ring = this.out[pe];
      if (!ring?.publish(this.soon)) continue;
      published = true;
      this.unseen.publish(ring.end);
    }
    if (published) this.control.wake();
  }

  private retry(): void {
    for (let pe = 0; pe < this.pes; pe++) {
      const held = this.held[pe];
      const ring = this.out[pe];
      if (ring === null) continue;
      while (!held.none && ring.room()) {
        // From here on it counts as posted, until no round is open.
        this.posts(held.firstTime);
        const slot = held.shift();
        const at = ring.next();
        for (let k = 0; k < this.size; k++) ring.words[at + k] = slot[k];
        this.waiting--;
      }
    }
  }

  /**
   * Rings have a fixed size: what does not fit waits at its sender, who handles nothing meanwhile. Otherwise it might work on
   * what a cancellation that waits would undo, and make more messages than the ring can take, with no end.
   */
  full(): boolean {
    return this.waiting > 0;
  }

  /** One function, longer than V8 inlines (v8-flags.ts): otherwise the turn would be compiled with all of it. */
  readonly drain = (receiver: Receiver): number => {
    const { F, I } = this.host.pool;
    const { size, pes } = this;
    let total = 0;
    for (let from = 0; from < pes; from++) {
      if (from === this.pe) continue;
      const ring = this.from ?? (this.in[from] as RingConsumer);
      const n = ring.look();
      if (n === 0) continue;
      total += n;
      const { words, doubles } = ring;
      let k = this.arriving[from] === null ? 0 : this.takeList(ring, from, n, receiver);
      while (k < n) {
        const at = ring.take();
        k++;
        const channel = words[at + CHANNEL_WORD];
        if (channel < 0) {
          receiver.cancelled(from, ~channel, words[at + ROLLBACK_WORD]);
          continue;
        }
        const extra = words[at + EXTRA];
        const h = receiver.arriving();
        const i = h << 1;
        const d = at >> 1;
        F[h + RECV] = doubles[d + RECV];
        F[h + SEND] = doubles[d + SEND];
        F[h + TIE] = doubles[d + TIE];
        I[i + DEST] = words[at + DEST];
        I[i + SOURCE] = words[at + SOURCE];
        I[i + PATH] = words[at + PATH];
        for (let p = PAYLOAD_WORD; p < size; p++) I[i + p] = words[at + p];
        I[i + BITS] = 0;
        I[i + EXTRA] = 0;
        if (extra === 0) receiver.arrived(h, from, channel);
        else {
          this.arriving[from] = new ArrivingList(h, channel, extra, size);
          k += this.takeList(ring, from, n - k, receiver);
        }
      }
      ring.release();
    }
    return total;
  };

  /** Takes up to `n` slots of the list that is arriving; returns the number of slots. */
  private takeList(ring: RingConsumer, from: number, n: number, receiver: Receiver): number {
    const list = this.arriving[from] as ArrivingList;
    for (let k = 1; k <= n; k++) {
      if (!list.take(ring.words, ring.take())) continue;
      this.arriving[from] = null;
      list.adopt(this.host.signatures);
      receiver.arrived(list.h, from, list.channel);
      return k;
    }
    return n;
  }

  requestGvt(): boolean {
    return this.control.requestGvt();
  }

  gvtWaits(): boolean {
    const shown = !this.soon || this.shows();
    if (this.control.roundIsOpen()) return this.control.awaits();
    // All that was posted is published before any round that may start from here on.
    if (shown) this.least[0] = Infinity;
    return false;
  }

  /** Now and then makes visible all that was flushed, and wakes a PE that went to rest before it could see that; returns whether it did. */
  private shows(): boolean {
    if (this.looks++ % LOOKS_TO_SHOW !== 0) return false;
    this.control.show();
    this.control.wake();
    return true;
  }

  contribute(least: Gvt): void {
    let held = Infinity;
    for (let pe = 0; pe < this.pes; pe++) held = Math.min(held, this.held[pe].least());
    const posted = Math.min(this.least[0], held);
    // For messages in flight only a bound of their time is known.
    this.flying.time = posted;
    const key = posted <= least.time ? this.flying : least;
    this.control.contribute(this.pe, key, Math.min(held, least.underWay), least);
    this.least[0] = Infinity;
  }

  takeGvt(out: Gvt): boolean {
    return this.control.takeGvt(out);
  }

  ask(what: number): void {
    this.control.ask(what);
  }

  asked(): number {
    return this.control.asked();
  }

  setPressure(level: number): void {
    this.control.setPressure(level);
  }

  pressure(): number {
    return this.control.pressure();
  }

  report(_gvt: number, committed: number, rolledBack: number): void {
    this.control.report(this.pe, committed, rolledBack);
  }

  readonly awaited = (): boolean => {
    if (this.stopped() || this.waiting > 0 || this.control.roundAwaits()) return true;
    for (let from = 0; from < this.pes; from++) {
      const ring = this.in[from];
      if (ring !== null && ring.look() > 0) return true;
    }
    return false;
  };

  stopped(): boolean {
    return this.control.stopped();
  }

  tell(least: number, until: number): void {
    const { to, from, waits } = this;
    if (to === null || from === null || waits === null) {
      this.control.tell(this.pe, least);
      return;
    }
    // An event has not arrived before its list has.
    if (this.arriving[this.other] === null) this.seen = from.taken;
    const late = Math.min(waits.least(), this.unseen.unpublished, until);
    to.promise(late, least, this.seen, this.soon);
  }

  /**
   * Between two PEs. The other one sends what it has posted and not published, and what follows from events that it has pending
   * or will have received from here. With more PEs, what they have under way among themselves counts as well.
   */
  lbts(lookahead: number): number {
    const { from, waits } = this;
    if (from === null || waits === null) return -Infinity;
    // Read before its promise, which may be newer: then it covers more than it has to.
    const unseen = this.unseen.least(from.seen());
    const least = Math.min(from.least(), unseen, waits.least());
    return Math.min(least + lookahead, from.late());
  }

  withdraw(): void {
    this.to?.withdraw();
  }

  toldFrom(time: number): boolean {
    return (this.from?.least() ?? this.control.told(this.pe)) >= time;
  }

  rest(turns: number): void {
    if (turns <= PATIENT_TURNS) return;
    // It waits here, not turn by turn: otherwise V8 would optimise the turn for having nothing to do.
    // A round trip through a sleep costs 50 µs, so it pays only if nothing has happened for longer: with
    // more PEs than CPUs, or while the code of another PE is still being compiled.
    const until = monotonicMs() + SPIN_MS;
    do {
      for (let k = 0; k < 32; k++) if (this.awaited()) return;
    } while (monotonicMs() < until);
    this.control.rest(10, this.awaited);
  }
}
