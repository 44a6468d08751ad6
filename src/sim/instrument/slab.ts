/**
 * A chain of three buffers in shared memory between one PE, which fills them, and the recorder, which empties
 * them. Single producer, single consumer; a handover is one atomic store.
 *
 * ```
 * word 0            –
 *      8 + 8 b      buffer b: state (FREE, FILLING, FULL), bytes published, bytes consumed
 *      40…47        f64: records dropped, bytes dropped, milliseconds waited, bytes filled
 * byte 4096 + b s   buffer b, s bytes
 * ```
 * Published bytes are whole records, so the recorder may take them while the PE goes on filling.
 */
const BUFFERS = 3;

const FREE = 0;
const FILLING = 1;
const FULL = 2;

const STATE = 0;
const USED = 1;
const CONSUMED = 2;
const DROPPED_RECORDS = 20;
const DROPPED_BYTES = 21;
const WAITED = 22;
const FILLED = 23;
const DATA = 4096;

/** Words of the memory that all slabs of a run share: one is rung when there is something to do; one is set when all is lost. */
export const DOORBELL = 0;
export const BROKEN = 1;
export const FINISHED = 2;
/** Word with the bytes of frames that the starting thread has taken from the recorder, modulo 2^32. */
export const TAKEN = 3;
/** Word with the kernel's thread id of PE p: THREADS + p. */
export const THREADS = 16;

/** Milliseconds between checks that the recorder is still alive, by a PE that waits for it. */
const LOOK_MS = 200;

const control = (b: number, word: number) => 8 + 8 * b + word;

/** Memory of a slab whose buffers have at least `size` bytes. */
export function slabMemory(size: number): SharedArrayBuffer {
  const whole = Math.ceil(size / 4096) * 4096;
  return new SharedArrayBuffer(DATA + BUFFERS * whole);
}

/** Memory that the slabs of a run on `pes` PEs share. */
export function bellMemory(pes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * (THREADS + pes));
}

export interface SlabTotals {
  readonly droppedRecords: number;
  readonly droppedBytes: number;
  readonly waitedMs: number;
  /** Bytes that the PE has filled. */
  readonly bytes: number;
}

const totalsOf = (f64: Float64Array): SlabTotals => ({
  droppedRecords: f64[DROPPED_RECORDS],
  droppedBytes: f64[DROPPED_BYTES],
  waitedMs: f64[WAITED],
  bytes: f64[FILLED],
});

interface SlabPolicy {
  /** Per cent. */
  readonly bufferFree: number;
  readonly disableOutput: boolean;
  readonly onOverflow: 'wait' | 'drop';
}

/** The PE's side. Rows are written into `i32`, `f32` or `f64` from word `at` on, after `ensure`. */
export class SlabWriter {
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  /** Word at which the next row begins. */
  at: number;
  /** Word at which the current buffer ends. Callers that cannot afford a call need not call `ensure` below it. */
  limit: number;
  private readonly bell: Int32Array;
  private readonly policy: SlabPolicy;
  /** Words of a buffer, and how many of them may be left free at a GVT. */
  private readonly size: number;
  private readonly spare: number;
  private buffer = 0;
  private start: number;
  /** No buffer is held: the last one is full and the next is not free yet. */
  private stuck = false;

  constructor(memory: SharedArrayBuffer, bell: SharedArrayBuffer, policy: SlabPolicy) {
    this.i32 = new Int32Array(memory);
    this.f32 = new Float32Array(memory);
    this.f64 = new Float64Array(memory);
    this.bell = new Int32Array(bell);
    this.policy = policy;
    this.size = (memory.byteLength - DATA) / BUFFERS / 4;
    this.spare = (this.size * policy.bufferFree) / 100;
    this.start = DATA / 4;
    this.at = this.start;
    this.limit = this.start + this.size;
    this.i32[control(0, STATE)] = FILLING;
  }

  /** Words that one buffer has room for. */
  get capacity(): number {
    return this.size;
  }

  /** Makes room for `records` rows with `words` words in all. False: they must be dropped, and have been counted as such. */
  ensure(words: number, records = 1): boolean {
    return this.at + words <= this.limit || this.turn(words, records);
  }

  /** How many of `n` rows of `words` words there is room for, at least one; 0: the first must be dropped. */
  room(words: number, n: number): number {
    if (!this.ensure(words)) return 0;
    return Math.min(n, Math.floor((this.limit - this.at) / words));
  }

  private turn(words: number, records: number): boolean {
    if (words > this.size) return this.drop(words, records);
    if (this.policy.disableOutput) {
      this.f64[FILLED] += (this.at - this.start) * 4;
      this.at = this.start;
      return true;
    }
    if (!this.stuck) this.handOver();
    if (!this.acquire()) return this.drop(words, records);
    return true;
  }

  private drop(words: number, records: number): boolean {
    this.f64[DROPPED_RECORDS] += records;
    this.f64[DROPPED_BYTES] += words * 4;
    return false;
  }

  private handOver(): void {
    this.publish();
    this.f64[FILLED] += (this.at - this.start) * 4;
    Atomics.store(this.i32, control(this.buffer, STATE), FULL);
    this.buffer = (this.buffer + 1) % BUFFERS;
    this.start = DATA / 4 + this.buffer * this.size;
    this.at = this.start;
    this.limit = this.start;
    this.stuck = true;
    this.ring();
  }

  private ring(): void {
    Atomics.add(this.bell, DOORBELL, 1);
    Atomics.notify(this.bell, DOORBELL);
  }

  private acquire(): boolean {
    const { i32, bell } = this;
    const at = control(this.buffer, STATE);
    if (Atomics.load(i32, at) !== FREE) {
      if (this.policy.onOverflow === 'drop') return false;
      const started = performance.now();
      while (Atomics.load(i32, at) !== FREE) {
        if (Atomics.load(bell, BROKEN) !== 0) return false;
        Atomics.wait(i32, at, FULL, LOOK_MS);
      }
      this.f64[WAITED] += performance.now() - started;
    }
    if (Atomics.load(bell, BROKEN) !== 0) return false;
    Atomics.store(i32, at, FILLING);
    this.limit = this.start + this.size;
    this.stuck = false;
    return true;
  }

  /** Lets the recorder see the rows written so far. */
  publish(): void {
    Atomics.store(this.i32, control(this.buffer, USED), (this.at - this.start) * 4);
  }

  /** Called after each GVT: publishes, and hands the buffer over if it is nearly full. */
  atGvt(): void {
    if (this.stuck || this.policy.disableOutput) return;
    if (this.limit - this.at < this.spare && this.at > this.start) {
      this.handOver();
      // The next buffer is taken only when it is needed: this one may be the last for a long time.
    } else this.publish();
  }

  /** Hands over what is left. */
  end(): void {
    if (this.policy.disableOutput) this.turn(0, 0);
    else if (!this.stuck) this.handOver();
  }

  totals(): SlabTotals {
    return totalsOf(this.f64);
  }
}

/** The recorder's side. */
export class SlabReader {
  private readonly i32: Int32Array;
  private readonly f64: Float64Array;
  private readonly bytes: Uint8Array;
  private readonly size: number;
  private buffer = 0;

  constructor(memory: SharedArrayBuffer) {
    this.i32 = new Int32Array(memory);
    this.f64 = new Float64Array(memory);
    this.bytes = new Uint8Array(memory);
    this.size = (memory.byteLength - DATA) / BUFFERS;
  }

  /**
   * Passes what has been handed over to `sink`, and with `partial` also what is published of the buffer that is
   * being filled. The bytes are whole rows, valid only during the call.
   * @throws what `sink` throws; the bytes that it was given are then lost
   */
  drain(partial: boolean, sink: (bytes: Uint8Array<SharedArrayBuffer>) => void): void {
    const { i32 } = this;
    for (;;) {
      const b = this.buffer;
      const state = Atomics.load(i32, control(b, STATE));
      if (state === FREE || (state === FILLING && !partial)) return;
      const used = Atomics.load(i32, control(b, USED));
      const consumed = i32[control(b, CONSUMED)];
      if (used > consumed) {
        i32[control(b, CONSUMED)] = used;
        const from = DATA + b * this.size;
        sink(this.bytes.subarray(from + consumed, from + used) as Uint8Array<SharedArrayBuffer>);
      }
      if (state !== FULL) return;
      i32[control(b, CONSUMED)] = 0;
      Atomics.store(i32, control(b, USED), 0);
      Atomics.store(i32, control(b, STATE), FREE);
      Atomics.notify(i32, control(b, STATE));
      this.buffer = (b + 1) % BUFFERS;
    }
  }

  totals(): SlabTotals {
    return totalsOf(this.f64);
  }
}
