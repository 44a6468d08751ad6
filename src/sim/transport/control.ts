/**
 * The shared words by which the threads of a process, or the processes of a machine, agree: GVT rounds, stop, memory budget, progress.
 *
 * GVT (after R. Fujimoto and M. Hybinette, "Computing Global Virtual Time in Shared-Memory
 * Multiprocessors", 1997): a round starts when anyone increments ROUND. Each PE, having seen that, drains
 * and flushes, then contributes the least of its pending times and the times of what it has posted since
 * it last saw no round open; the last one to contribute publishes the minimum. A message that its receiver had not
 * drained before contributing was published after ROUND changed, so its sender had not contributed
 * before posting it, or held an event at or before it when it did: either way the minimum covers it.
 *
 * Conservative PEs need more than a minimum that covers: what arrives after they have taken the GVT must not be before
 * GVT + lookahead, where they stop. What was published before its sender contributed was published before DONE was
 * stored, so that a PE which has seen DONE drains it before it handles anything. What was posted after its
 * sender contributed was posted by an event at or after GVT. What remains is what had been posted and waited with its
 * sender for room in a ring: its least time is contributed beside the key (`Gvt.underWay`).
 */
import type { Budget } from '../event.ts';
import { sharedLines } from '../reserved.ts';
import { GVT_TIES, type Gvt } from './transport.ts';

const LINE = 16;
/** What changes in a round is in one cache line: whoever has written one word of it need not wait for the others. */
const ROUND = 0;
const DONE = 1;
const REPORTED = 2;
const ASKED = 3;
const ANSWER = 4;
const STOP_ASKED = 5;
const STOP_ROUND = 6;
const PROMISING = 7;
const PROMISED = 8;
const STOP = LINE;
const PRESSURE = LINE + 1;
const BUDGET = 2 * LINE;
const BELL = 3 * LINE;
const READY = 4 * LINE;
const RESTING = 5 * LINE;
const WORDS = 6 * LINE;
/**
 * Doubles: the GVT's key; then per PE that of its contribution, and its progress. A key's tie-breakers end with the first
 * -Infinity, or where there is room for no more, so that most keys take one cache line.
 */
const TIME = 0;
const PRIORITY = 1;
const UNDER_WAY = 2;
const SAMPLES = 3;
const BOUND = 4;
const TIES = 5;
const GVT = 0;
const KEY_LINES = 16;
const COMMITTED = KEY_LINES;
const ROLLED_BACK = KEY_LINES + 1;
const FIRST_PENDING = KEY_LINES + 2;
const PE_LINES = 2 * KEY_LINES;

export interface ControlMemory {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
}

/** Bytes of `words` and `doubles`. */
export function controlBytes(pes: number) {
  return { words: WORDS * 4, doubles: (KEY_LINES + pes * PE_LINES) * 8 };
}

const atPe = (pe: number) => KEY_LINES + pe * PE_LINES;

export function controlMemory(pes: number, records: number): ControlMemory {
  const bytes = controlBytes(pes);
  const words = sharedLines(bytes.words + bytes.doubles);
  const memory = {
    words: words.subarray(0, WORDS),
    doubles: new Float64Array(words.buffer, words.byteOffset + bytes.words, bytes.doubles / 8),
  };
  fillBudget(memory, records);
  return memory;
}

/** The event memory of all PEs. Set before the first PE begins. */
export function fillBudget({ words }: ControlMemory, records: number): void {
  words[BUDGET] = Math.min(records, 0x7fffffff);
}

/** How PEs sleep until a word changes: `Atomics` knows the threads of one process. */
export interface Sleep {
  /** Returns when `words[at]` is woken, after so long, at once if it is not `value`, or spuriously. */
  wait(words: Int32Array, at: number, value: number, milliseconds: number): void;
  wake(words: Int32Array, at: number): void;
}

const ATOMICS: Sleep = {
  wait: (words, at, value, milliseconds) => Atomics.wait(words, at, value, milliseconds),
  wake: (words, at) => Atomics.notify(words, at),
};

/** Whether the key at `a` comes before that at `b`; as `compareGvts`. */
function precedes(D: Float64Array, a: number, b: number): boolean {
  if (D[a + TIME] !== D[b + TIME]) return D[a + TIME] < D[b + TIME];
  if (D[a + PRIORITY] !== D[b + PRIORITY]) return D[a + PRIORITY] < D[b + PRIORITY];
  for (let k = TIES; k < TIES + GVT_TIES; k++) {
    if (D[a + k] !== D[b + k]) return D[a + k] < D[b + k];
    if (D[a + k] === -Infinity) return false;
  }
  return false;
}

/** Writes the tie-breakers of `key`. */
function putTies(D: Float64Array, at: number, ties: Float64Array): void {
  for (let k = 0; k < GVT_TIES; k++) {
    D[at + TIES + k] = ties[k];
    if (ties[k] === -Infinity) return;
  }
}

/** Reads them into `ties`. */
function getTies(D: Float64Array, at: number, ties: Float64Array): void {
  let there = true;
  for (let k = 0; k < GVT_TIES; k++) {
    ties[k] = there ? D[at + TIES + k] : -Infinity;
    there = ties[k] !== -Infinity;
  }
}

export class EngineControl {
  readonly pes: number;
  private readonly W: Int32Array;
  private readonly D: Float64Array;
  private readonly sleep: Sleep;
  private readonly own = new Int32Array(16);
  private seen = 0;
  private taken = 0;

  constructor(memory: ControlMemory, pes: number, sleep = ATOMICS) {
    this.pes = pes;
    this.sleep = sleep;
    this.W = memory.words;
    this.D = memory.doubles;
  }

  /** Starts a round, unless one is open, or this PE has yet to take the result of the last one, which may be what it wants. */
  requestGvt(): boolean {
    const round = Atomics.load(this.W, DONE);
    if (this.taken !== round || Atomics.load(this.W, ROUND) !== round) return false;
    const started = Atomics.compareExchange(this.W, ROUND, round, round + 1) === round;
    this.wake();
    return started;
  }

  /** A round has started that this PE has not contributed to. */
  roundIsOpen(): boolean {
    return Atomics.load(this.W, ROUND) !== this.seen;
  }

  /** Whether this PE may contribute to the open round: it has taken the result of the one before. */
  awaits(): boolean {
    return this.taken === this.seen;
  }

  /**
   * @param key the least time that is pending here or under way
   * @param underWay least time of what this PE has posted and its receiver may not find when this round is done
   * @param said the rest of what it says
   */
  contribute(pe: number, key: Gvt, underWay: number, said: Gvt): void {
    const round = this.seen + 1;
    this.seen = round;
    const { D } = this;
    const mine = atPe(pe);
    D[mine + TIME] = key.time;
    D[mine + PRIORITY] = key.priority;
    D[mine + UNDER_WAY] = underWay;
    D[mine + SAMPLES] = said.samples;
    D[mine + BOUND] = said.bound;
    putTies(D, mine, key.ties);
    if (said.promised) this.W[PROMISING] = round;
    if (Atomics.add(this.W, REPORTED, 1) !== this.pes - 1) return;
    this.W[PROMISED] = Number(this.W[PROMISING] === round);
    let first = atPe(0);
    D[GVT + UNDER_WAY] = D[first + UNDER_WAY];
    D[GVT + SAMPLES] = D[first + SAMPLES];
    D[GVT + BOUND] = D[first + BOUND];
    for (let k = 1; k < this.pes; k++) {
      const at = atPe(k);
      if (precedes(D, at, first)) first = at;
      if (D[at + UNDER_WAY] < D[GVT + UNDER_WAY]) D[GVT + UNDER_WAY] = D[at + UNDER_WAY];
      if (D[at + SAMPLES] > D[GVT + SAMPLES]) D[GVT + SAMPLES] = D[at + SAMPLES];
      if (D[at + BOUND] > D[GVT + BOUND]) D[GVT + BOUND] = D[at + BOUND];
    }
    D[GVT + TIME] = D[first + TIME];
    D[GVT + PRIORITY] = D[first + PRIORITY];
    for (let k = TIES; k < TIES + GVT_TIES; k++) {
      D[GVT + k] = D[first + k];
      if (D[first + k] === -Infinity) break;
    }
    Atomics.store(this.W, REPORTED, 0);
    this.W[ANSWER] = Atomics.exchange(this.W, ASKED, 0);
    if (Atomics.exchange(this.W, STOP_ASKED, 0) !== 0) Atomics.store(this.W, STOP_ROUND, round);
    Atomics.store(this.W, DONE, round);
    this.wake();
  }

  takeGvt(out: Gvt): boolean {
    // A plain load is only a hint, but the cheapest; the atomic one makes the GVT visible.
    if (this.W[DONE] === this.taken) return false;
    this.taken = Atomics.load(this.W, DONE);
    out.time = this.D[GVT + TIME];
    out.priority = this.D[GVT + PRIORITY];
    getTies(this.D, GVT, out.ties);
    out.underWay = this.D[GVT + UNDER_WAY];
    out.samples = this.D[GVT + SAMPLES];
    out.bound = this.D[GVT + BOUND];
    out.promised = this.W[PROMISED] !== 0;
    return true;
  }

  /** A PE that requests often has probably requested already. */
  ask(what: number): void {
    if ((this.W[ASKED] & what) !== what) Atomics.or(this.W, ASKED, what);
  }

  asked(): number {
    return this.W[ANSWER];
  }

  /** The last GVT, for observers. */
  gvt(): number {
    return this.D[GVT + TIME];
  }

  report(pe: number, committed: number, rolledBack: number): void {
    this.D[atPe(pe) + COMMITTED] = committed;
    this.D[atPe(pe) + ROLLED_BACK] = rolledBack;
  }

  tell(pe: number, least: number): void {
    this.D[atPe(pe) + FIRST_PENDING] = least;
  }

  /** The least time that PEs other than `pe` have reported. */
  told(pe: number): number {
    let least = Infinity;
    for (let k = 0; k < this.pes; k++) {
      if (k !== pe) least = Math.min(least, this.D[atPe(k) + FIRST_PENDING]);
    }
    return least;
  }

  progress(): { committed: number; rolledBack: number } {
    let committed = 0;
    let rolledBack = 0;
    for (let pe = 0; pe < this.pes; pe++) {
      committed += this.D[atPe(pe) + COMMITTED];
      rolledBack += this.D[atPe(pe) + ROLLED_BACK];
    }
    return { committed, rolledBack };
  }

  stop(): void {
    Atomics.store(this.W, STOP, 1);
    this.ring();
  }

  stopped(): boolean {
    return this.W[STOP] !== 0;
  }

  /** Stops the run for all at one GVT, which `stopDue` announces. */
  stopAtGvt(): void {
    Atomics.store(this.W, STOP_ASKED, 1);
    this.ring();
  }

  /** Whether the GVT just taken is the last. */
  stopDue(): boolean {
    return this.taken !== 0 && Atomics.load(this.W, STOP_ROUND) === this.taken;
  }

  setPressure(level: number): void {
    Atomics.store(this.W, PRESSURE, level);
  }

  /** A plain load: nothing else has to be seen with it, and V8 11.3 does not inline `Atomics.load`. */
  pressure(): number {
    return this.W[PRESSURE];
  }

  /** Wakes sleeping PEs. */
  ring(): void {
    Atomics.add(this.W, BELL, 1);
    this.sleep.wake(this.W, BELL);
  }

  /** Returns when all that this thread has stored is visible to others. */
  show(): void {
    Atomics.store(this.own, 0, 0);
  }

  /** As `ring`, if any PE rests. Called after what it should notice has been stored. */
  wake(): void {
    if (Atomics.load(this.W, RESTING) > 0) this.ring();
  }

  /**
   * Sleeps until the bell rings, at most `milliseconds`; not at all where `awaited` shows something after
   * this PE has said that it rests: whoever stores later sees that, and rings.
   */
  rest(milliseconds: number, awaited: () => boolean): void {
    Atomics.add(this.W, RESTING, 1);
    const bell = Atomics.load(this.W, BELL);
    if (!awaited()) this.sleep.wait(this.W, BELL, bell, milliseconds);
    Atomics.sub(this.W, RESTING, 1);
  }

  /** Whether a round waits for this PE, or has ended unnoticed by it. */
  roundAwaits(): boolean {
    return this.roundIsOpen() || Atomics.load(this.W, DONE) !== this.taken;
  }

  /** Waits until all PEs get here; false if the run is stopped meanwhile. */
  meet(): boolean {
    Atomics.add(this.W, READY, 1);
    this.sleep.wake(this.W, READY);
    for (;;) {
      const ready = Atomics.load(this.W, READY);
      if (ready >= this.pes) return true;
      if (this.stopped()) return false;
      this.sleep.wait(this.W, READY, ready, 50);
    }
  }

  get budget(): Budget {
    const W = this.W;
    return {
      take(records) {
        for (;;) {
          const left = Atomics.load(W, BUDGET);
          const granted = Math.min(records, left);
          if (granted <= 0) return 0;
          if (Atomics.compareExchange(W, BUDGET, left, left - granted) === left) return granted;
        }
      },
      give(records) {
        Atomics.add(W, BUDGET, records);
      },
    };
  }
}
