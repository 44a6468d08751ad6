/**
 * Buffers in shared memory between one PE, which fills them, and the recorder, which empties them in the same order. Single
 * producer, single consumer; a handover is one atomic store. The PE takes the buffer that was emptied last: as long as the
 * recorder keeps up, two or three buffers are in use, which stay in the CPU's cache, and the others are for bursts.
 *
 * ```
 * word 0            number of buffers
 *      1            how many times the PE has taken one
 *      16           how many times the recorder has emptied one
 *      40…47        f64: records dropped, bytes dropped, milliseconds waited, bytes filled
 *      64…          the buffers taken, in order, over and over
 *      160…         the buffers emptied, likewise
 *      256 + 2 b    buffer b: state (FILLING, FULL), bytes published
 * byte 4096 + b s   buffer b, s bytes
 * ```
 * Published bytes are whole records, so the recorder may take them while the PE goes on filling.
 */
/** Most buffers, and how many there are at least. */
const MOST = 96;
const LEAST = 3;
/** A buffer has no more bytes than this, unless more have to be together. Buffers of 64 kB or 8 MB cost the PE more. */
const BUFFER_BYTES = 1 << 18;

/** The recorder is called so many times while all buffers are filled once, and it looks from time to time. */
const RINGS = 12;

const FILLING = 1;
const FULL = 2;

const COUNT = 0;
const TAKES = 1;
const EMPTIES = 16;
const TAKEN_ONES = 64;
const EMPTIED_ONES = TAKEN_ONES + MOST;
const CONTROL = EMPTIED_ONES + MOST;
const STATE = 0;
const USED = 1;
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

const control = (b: number, word: number) => CONTROL + 2 * b + word;

/**
 * Memory of a slab.
 * @param size a third of its bytes, rounded up
 * @param together bytes that one buffer should have room for
 */
export function slabMemory(size: number, together: number): SharedArrayBuffer {
  const wanted = Math.min(size, Math.max(together, BUFFER_BYTES, (LEAST * size) / MOST));
  const bytes = Math.ceil(wanted / 4096) * 4096;
  const count = Math.min(MOST, Math.max(LEAST, Math.ceil((LEAST * size) / bytes)));
  const memory = new SharedArrayBuffer(DATA + count * bytes);
  new Int32Array(memory)[COUNT] = count;
  return memory;
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
  private readonly count: number;
  /** Words of a buffer, and how many of them may be left free at a GVT. */
  private readonly size: number;
  private readonly spare: number;
  /** Buffers from one call of the recorder to the next: to wake it takes the PE some µs, and interrupts a PE. */
  private readonly ringEvery: number;
  /** Free buffers: the one emptied last is on top. */
  private readonly free: number[];
  /** How many takes and empties there have been, and where the next ones are listed. */
  private takes = 0;
  private nextTaken = 0;
  private empties = 0;
  private nextEmptied = 0;
  private buffer = 0;
  private start = 0;
  /** No buffer is held: the last one has been handed over. */
  private stuck = true;

  constructor(memory: SharedArrayBuffer, bell: SharedArrayBuffer, policy: SlabPolicy) {
    this.i32 = new Int32Array(memory);
    this.f32 = new Float32Array(memory);
    this.f64 = new Float64Array(memory);
    this.bell = new Int32Array(bell);
    this.policy = policy;
    this.count = this.i32[COUNT];
    this.size = (memory.byteLength - DATA) / this.count / 4;
    this.spare = (this.size * policy.bufferFree) / 100;
    this.ringEvery = Math.ceil(this.count / RINGS);
    this.free = Array.from({ length: this.count }, (_, k) => this.count - 1 - k);
    this.at = 0;
    this.limit = 0;
    this.take();
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
    this.limit = this.at;
    this.stuck = true;
    if (this.takes % this.ringEvery === 0) this.ring();
  }

  private ring(): void {
    Atomics.add(this.bell, DOORBELL, 1);
    Atomics.notify(this.bell, DOORBELL);
  }

  private acquire(): boolean {
    const { i32, bell, free } = this;
    this.collect();
    if (free.length === 0) {
      if (this.policy.onOverflow === 'drop') return false;
      const started = performance.now();
      this.ring();
      for (; free.length === 0; this.collect()) {
        if (Atomics.load(bell, BROKEN) !== 0) return false;
        Atomics.wait(i32, EMPTIES, this.empties, LOOK_MS);
      }
      this.f64[WAITED] += performance.now() - started;
    }
    if (Atomics.load(bell, BROKEN) !== 0) return false;
    this.take();
    return true;
  }

  /** Collects the buffers that have been emptied. */
  private collect(): void {
    const { i32 } = this;
    const empties = Atomics.load(i32, EMPTIES);
    for (; this.empties !== empties; this.empties = (this.empties + 1) | 0) {
      this.free.push(i32[EMPTIED_ONES + this.nextEmptied]);
      this.nextEmptied = (this.nextEmptied + 1) % this.count;
    }
  }

  /** Begins to fill a free buffer. There must be one. */
  private take(): void {
    const { i32 } = this;
    this.buffer = this.free.pop() as number;
    i32[control(this.buffer, STATE)] = FILLING;
    i32[control(this.buffer, USED)] = 0;
    i32[TAKEN_ONES + this.nextTaken] = this.buffer;
    this.nextTaken = (this.nextTaken + 1) % this.count;
    this.takes = (this.takes + 1) | 0;
    Atomics.store(i32, TAKES, this.takes);
    this.start = DATA / 4 + this.buffer * this.size;
    this.at = this.start;
    this.limit = this.start + this.size;
    this.stuck = false;
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
  private readonly count: number;
  private readonly size: number;
  /** How many buffers have been emptied, and where those and the next one taken are listed. */
  private empties = 0;
  private next = 0;
  /** Bytes of the next buffer that have been passed on. */
  private consumed = 0;

  constructor(memory: SharedArrayBuffer) {
    this.i32 = new Int32Array(memory);
    this.f64 = new Float64Array(memory);
    this.bytes = new Uint8Array(memory);
    this.count = this.i32[COUNT];
    this.size = (memory.byteLength - DATA) / this.count;
  }

  /**
   * Passes what has been handed over to `sink`, and with `partial` also what is published of the buffer that is
   * being filled. The bytes are whole rows, valid only during the call.
   * @throws what `sink` throws; the bytes that it was given are then lost
   */
  drain(partial: boolean, sink: (bytes: Uint8Array<SharedArrayBuffer>) => void): void {
    const { i32 } = this;
    while (Atomics.load(i32, TAKES) !== this.empties) {
      const b = i32[TAKEN_ONES + this.next];
      const state = Atomics.load(i32, control(b, STATE));
      if (state === FILLING && !partial) return;
      const used = Atomics.load(i32, control(b, USED));
      const from = DATA + b * this.size;
      const begin = from + this.consumed;
      if (used > this.consumed) {
        this.consumed = used;
        sink(this.bytes.subarray(begin, from + used) as Uint8Array<SharedArrayBuffer>);
      }
      if (state !== FULL) return;
      this.consumed = 0;
      i32[EMPTIED_ONES + this.next] = b;
      this.next = (this.next + 1) % this.count;
      this.empties = (this.empties + 1) | 0;
      Atomics.store(i32, EMPTIES, this.empties);
      Atomics.notify(i32, EMPTIES);
    }
  }

  totals(): SlabTotals {
    return totalsOf(this.f64);
  }
}
