/** PEs as worker threads of one process: rings on shared memory, GVT by shared words. */
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import { Control, type ControlMemory, type Sleep } from './control.ts';
import { RingConsumer, RingProducer, ringMemory } from './ring.ts';
import { type Gvt, type Receiver, startOfTime, type Transport } from './transport.ts';

const { BITS, DEST, EXTRA, PATH, PAYLOAD, RECV, SEND, SOURCE, STATE, TIE } = layout;

export interface ThreadMemory {
  readonly control: ControlMemory;
  /** rings[from][to] */
  readonly rings: readonly (readonly ArrayBufferLike[])[];
}

/** Shared memory for `pes` PEs whose event records have `stride` doubles. */
export function threadRings(
  pes: number,
  stride: number,
): readonly (readonly SharedArrayBuffer[])[] {
  return Array.from({ length: pes }, (_, from) =>
    Array.from({ length: pes }, (_, to) =>
      from === to ? new SharedArrayBuffer(4) : ringMemory(stride * 2),
    ),
  );
}

/** Word of a slot that tells an event (its channel) from an anti-message (~channel). */
const CHANNEL_WORD = STATE;

const PAYLOAD_WORD = 2 * PAYLOAD;

/** Word of an anti-message: the rollback that sent it. */
const ROLLBACK_WORD = 0;

/** Turns without anything to do before a PE waits: within them it asks for GVT. */
const PATIENT_TURNS = 8;
/** Milliseconds of polling before a PE sleeps. */
const SPIN = 0.1;

/** Slots that did not fit: copies of their words, in order. */
interface Overflow {
  slots: Int32Array[];
  least: number;
}

/** What it needs of its PE, whose number is its place in the memory. */
export type RingHost = Pick<Pe, 'number' | 'pool' | 'signatures'>;

export class ThreadTransport implements Transport {
  readonly pe: number;
  readonly pes: number;
  readonly slowGvt = false;
  readonly reductionsPerGvt = 1;
  readonly control: Control;
  private readonly host: RingHost;
  private readonly size: number;
  private readonly out: readonly (RingProducer | null)[];
  private readonly in: readonly (RingConsumer | null)[];
  private readonly overflow: Overflow[];
  private overflowing = 0;
  private readonly flying = startOfTime();
  private signature = new Float64Array(64);
  /** Least time posted since this PE last saw that no GVT round was open, or contributed to one. */
  private readonly least = new Float64Array([Infinity]);

  constructor(host: RingHost, memory: ThreadMemory, pes: number, sleep?: Sleep) {
    this.host = host;
    this.pe = host.number;
    this.pes = pes;
    this.control = new Control(memory.control, pes, sleep);
    this.size = host.pool.stride * 2;
    const { size, pe } = this;
    this.out = memory.rings[pe].map((m, to) => (to === pe ? null : new RingProducer(m, size)));
    this.in = memory.rings.map((from, k) => (k === pe ? null : new RingConsumer(from[pe], size)));
    this.overflow = Array.from({ length: pes }, () => ({ slots: [], least: Infinity }));
  }

  post(pe: number, h: number, channel: number): void {
    const { F, I } = this.host.pool;
    const time = F[h + RECV];
    if (time < this.least[0]) this.least[0] = time;
    const i = h << 1;
    const extra = I[i + EXTRA] === 0 ? 0 : this.writeSignature(h);
    const tail = extra === 0 ? 0 : Math.ceil((extra * 2) / this.size);
    const ring = this.out[pe] as RingProducer;
    if (this.overflow[pe].slots.length === 0 && ring.room(1 + tail)) {
      const at = ring.next();
      const { words, doubles } = ring;
      // What the receiver needs, times as doubles: half the stores of a copy word by word.
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
      if (tail > 0) this.postSignature(ring, tail);
      return;
    }
    const slots = new Int32Array(this.size * (1 + tail));
    slots.set(I.subarray(i, i + this.size));
    slots[CHANNEL_WORD] = channel;
    slots[EXTRA] = extra;
    if (tail > 0) slots.set(new Int32Array(this.signature.buffer, 0, tail * this.size), this.size);
    this.hold(pe, slots, time);
  }

  private postSignature(ring: RingProducer, slots: number): void {
    const signature = new Int32Array(this.signature.buffer);
    for (let s = 0; s < slots; s++) {
      const to = ring.next();
      for (let k = 0; k < this.size; k++) ring.words[to + k] = signature[s * this.size + k];
    }
  }

  /** Puts priority and list of `h` into the scratch array; returns its length in doubles. */
  private writeSignature(h: number): number {
    const signatures = this.host.signatures;
    const n = signatures.prefixLength(h) + 1;
    const room = Math.ceil((n * 2) / this.size) * (this.size / 2);
    if (this.signature.length < room) this.signature = new Float64Array(room * 2);
    this.signature[0] = signatures.priority(h);
    signatures.write(h, this.signature, 1);
    return n;
  }

  cancel(pe: number, channel: number, time: number, rollback: number): void {
    if (time < this.least[0]) this.least[0] = time;
    const ring = this.out[pe] as RingProducer;
    if (this.overflow[pe].slots.length === 0 && ring.room(1)) {
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

  /** Keeps what the ring has no room for. Never blocks: two PEs that wait for each other would stop both. */
  private hold(pe: number, slots: Int32Array, time: number): void {
    const overflow = this.overflow[pe];
    overflow.slots.push(slots);
    if (time < overflow.least) overflow.least = time;
    this.overflowing++;
  }

  flush(): void {
    if (this.overflowing > 0) this.retry();
    let published = false;
    for (let pe = 0; pe < this.pes; pe++) {
      const ring = this.out[pe];
      if (ring?.publish()) published = true;
    }
    if (published) this.control.wake();
  }

  private retry(): void {
    for (let pe = 0; pe < this.pes; pe++) {
      const { slots } = this.overflow[pe];
      const ring = this.out[pe];
      if (ring === null || slots.length === 0) continue;
      let done = 0;
      while (done < slots.length && ring.room(slots[done].length / this.size)) {
        const words = slots[done++];
        for (let s = 0; s < words.length; s += this.size) {
          const at = ring.next();
          for (let k = 0; k < this.size; k++) ring.words[at + k] = words[s + k];
        }
      }
      slots.splice(0, done);
      this.overflowing -= done;
      if (done > 0 && this.overflow[pe].least < this.least[0])
        this.least[0] = this.overflow[pe].least;
      if (slots.length === 0) this.overflow[pe].least = Infinity;
    }
  }

  /** Rings are of fixed size: what does not fit waits with its sender. */
  full(): boolean {
    return false;
  }

  drain(receiver: Receiver): number {
    let total = 0;
    for (let from = 0; from < this.pes; from++) {
      const ring = this.in[from];
      if (ring === null) continue;
      let n = ring.look();
      if (n === 0) continue;
      total += n;
      while (n > 0) n -= this.take(ring, from, receiver);
      ring.release();
    }
    return total;
  }

  /** Takes one message; returns the number of its slots. */
  private take(ring: RingConsumer, from: number, receiver: Receiver): number {
    const at = ring.take();
    const words = ring.words;
    const channel = words[at + CHANNEL_WORD];
    if (channel < 0) {
      receiver.cancelled(from, ~channel, words[at + ROLLBACK_WORD]);
      return 1;
    }
    const extra = words[at + EXTRA];
    const { F, I } = this.host.pool;
    const { doubles } = ring;
    const h = receiver.arriving();
    const i = h << 1;
    const d = at >> 1;
    F[h + RECV] = doubles[d + RECV];
    F[h + SEND] = doubles[d + SEND];
    F[h + TIE] = doubles[d + TIE];
    I[i + DEST] = words[at + DEST];
    I[i + SOURCE] = words[at + SOURCE];
    I[i + PATH] = words[at + PATH];
    for (let k = PAYLOAD_WORD; k < this.size; k++) I[i + k] = words[at + k];
    I[i + BITS] = 0;
    I[i + EXTRA] = 0;
    const tail = extra === 0 ? 0 : Math.ceil((extra * 2) / this.size);
    if (tail > 0) {
      const list = new Float64Array((tail * this.size) / 2);
      const bits = new Int32Array(list.buffer);
      for (let s = 0; s < tail; s++) {
        const slot = ring.take();
        for (let k = 0; k < this.size; k++) bits[s * this.size + k] = words[slot + k];
      }
      this.host.signatures.adopt(h, list[0], list, 1, extra - 1);
    }
    receiver.arrived(h, from, channel);
    return 1 + tail;
  }

  requestGvt(): boolean {
    return this.control.requestGvt();
  }

  gvtWaits(): boolean {
    if (this.control.roundIsOpen()) return this.control.awaits();
    // All that was posted is published, before any round that may start from here on.
    this.least[0] = Infinity;
    return false;
  }

  contribute(least: Gvt): void {
    let posted = this.least[0];
    for (const { least: held } of this.overflow) posted = Math.min(posted, held);
    // Of what is in flight only a bound of its time is known.
    if (posted <= least.time) {
      this.flying.time = posted;
      this.control.contribute(this.pe, this.flying);
    } else this.control.contribute(this.pe, least);
    this.least[0] = Infinity;
  }

  takeGvt(out: Gvt): boolean {
    return this.control.takeGvt(out);
  }

  askHook(): void {
    this.control.askHook();
  }

  hookDue(): boolean {
    return this.control.hookDue();
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
    if (this.stopped() || this.overflowing > 0 || this.control.roundAwaits()) return true;
    for (let from = 0; from < this.pes; from++) {
      const ring = this.in[from];
      if (ring !== null && ring.look() > 0) return true;
    }
    return false;
  };

  stopped(): boolean {
    return this.control.stopped();
  }

  tell(least: number): void {
    this.control.tell(this.pe, least);
  }

  told(): number {
    return this.control.told(this.pe);
  }

  rest(turns: number): void {
    if (turns <= PATIENT_TURNS) return;
    // Waited for here, not turn by turn: turns without anything to do would be what V8 optimises the turn for.
    // A round trip through a sleep costs 50 µs, so it pays only where nothing has happened for longer: with
    // more PEs than CPUs, or while the code of another PE is still being compiled.
    const until = performance.now() + SPIN;
    do {
      for (let k = 0; k < 32; k++) if (this.awaited()) return;
    } while (performance.now() < until);
    this.control.rest(10, this.awaited);
  }
}
