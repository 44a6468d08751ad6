/**
 * Event records: fixed-stride rows of one ArrayBuffer, named by integer handles.
 * `layout.ts` has a picture of the record.
 */
import * as layout from './layout.ts';
import { type Reserved, reserved } from './reserved.ts';

export * from './layout.ts';

const { ALIGN, FREE, NEXT, PAYLOAD, STATE } = layout;

/** Record size in doubles for a payload of `bytes`. At least 8 (64 bytes: one cache line). */
export function strideFor(bytes: number): number {
  const doubles = PAYLOAD + Math.ceil(bytes / 8);
  return doubles <= 8 ? 8 : Math.ceil(doubles / 2) * 2;
}

/** Grants event records to the pools of one run, so that all PEs together stay within one bound. */
export interface Budget {
  /** Asks for up to `records` more; returns how many were granted (0 when the bound is reached). */
  take(records: number): number;
  /** Returns records; a negative number takes them past the bound, for an event that has already arrived. */
  give(records: number): void;
}

/** The budget of a run on one PE. */
export class LocalBudget implements Budget {
  private left: number;
  constructor(records: number) {
    this.left = records;
  }
  take(records: number): number {
    const granted = Math.max(0, Math.min(records, this.left));
    this.left -= granted;
    return granted;
  }
  give(records: number): void {
    this.left += records;
  }
}

/** The largest length of a typed array. */
const MOST_BYTES = 2 ** 32 - 2 ** 16;
/** Address space for events that arrive past the bound, in records, in addition to the bound itself. */
const ARRIVALS = 1 << 16;
// Words of a pool's state. In a typed array: numbers in fields would be tagged, and a handle might become a double.
const FREE_LIST = 0;
const TOP = 1;
const GRANTED = 2;
/** Records that may be taken into use without asking the budget. */
const SPARE = 3;

/** Records asked of the budget at a time; a share of it when the budget is small. */
const GRANT = 4096;
/** At first, and beyond what the pool has, until that is so many. */
const FIRST_GRANT = 8;

/**
 * The records of one PE. The address space for the whole bound is reserved at the start and the
 * operating system supplies pages as they are first touched, so the pool grows without copying.
 */
export class EventPool {
  readonly F: Float64Array;
  readonly I: Int32Array;
  readonly buffer: Reserved;
  /** The number of records for which address space is reserved. */
  readonly capacity: number;
  /** Record size in doubles. */
  readonly stride: number;
  /** Payload size in doubles. */
  readonly payload: number;
  readonly sink: number;
  /** An event has arrived while the pool was at its bound. */
  overdrawn = false;
  /** Seconds for which memory was short, from GVT to GVT (`memory-pressure.ts`). */
  shortSeconds = 0;
  private readonly budget: Budget;
  private readonly grant: number;
  /** At least 128 bytes: V8 keeps smaller arrays in its heap, where they move. */
  private readonly words = new Int32Array(32);
  private readonly end: number;

  /**
   * @param payloadBytes size of the message struct
   * @param capacity most records that can ever be needed (the whole run's bound)
   * @throws RangeError where not even a small address range can be reserved
   */
  constructor(payloadBytes: number, capacity: number, budget: Budget, grant = GRANT) {
    this.stride = strideFor(payloadBytes);
    this.payload = this.stride - PAYLOAD;
    const bytes = this.stride * 8;
    this.buffer = reserve(
      Math.min(2 * capacity + ARRIVALS, Math.floor(MOST_BYTES / bytes)) * bytes,
      bytes,
    );
    this.F = new Float64Array(this.buffer);
    this.I = new Int32Array(this.buffer);
    this.capacity = Math.floor(this.F.length / this.stride) - 3;
    this.sink = ALIGN;
    this.words[TOP] = ALIGN + this.stride;
    this.end = this.F.length - this.stride;
    this.budget = budget;
    this.grant = grant;
  }

  /** Records in use. */
  get live(): number {
    return this.words[GRANTED] - this.words[SPARE];
  }

  /** The most records in use at any time: a new one is made only if none is free. */
  get peak(): number {
    return (this.words[TOP] - ALIGN) / this.stride - 1;
  }

  /** A record with a zeroed payload, or 0 when the bound is reached. Links and flags are the caller's. */
  alloc(): number {
    const { F, words } = this;
    if (words[SPARE] <= 0 && !this.more()) return 0;
    let h = words[FREE_LIST];
    if (h !== 0) words[FREE_LIST] = this.I[(h << 1) + NEXT];
    else {
      h = words[TOP];
      if (h > this.end) return 0;
      words[TOP] = h + this.stride;
    }
    words[SPARE]--;
    F[h + PAYLOAD] = 0;
    for (let k = PAYLOAD + 1; k < this.stride; k++) F[h + k] = 0;
    return h;
  }

  /** The record for the message of an event that is not created; zeroed. */
  emptySink(): number {
    for (let k = PAYLOAD; k < this.stride; k++) this.F[this.sink + k] = 0;
    return this.sink;
  }

  free(h: number): void {
    const { I, words } = this;
    const i = h << 1;
    I[i + NEXT] = words[FREE_LIST];
    I[i + STATE] = FREE;
    words[FREE_LIST] = h;
    words[SPARE]++;
  }

  /** A record even past the bound, for an event that has already arrived. @throws RangeError if none is left at all. */
  allocArrived(): number {
    return this.alloc() || this.overdraw();
  }

  private overdraw(): number {
    this.grantMore(1);
    this.overdrawn = true;
    this.budget.give(-1);
    const h = this.alloc();
    if (h === 0) throw new RangeError('event memory: the reserved address range is used up');
    return h;
  }

  /** Forgets that records have been in use. None may be. */
  unuse(): void {
    this.words[FREE_LIST] = 0;
    this.words[TOP] = ALIGN + this.stride;
  }

  /** Returns records granted beyond need to the budget; all free ones if memory is short. */
  settle(short = false): void {
    const spare = this.words[SPARE] - (short ? 0 : 2 * this.grant);
    if (spare > 0) {
      this.grantMore(-spare);
      this.budget.give(spare);
    }
  }

  /** Asks for few records at first, so that it is called several times before V8 compiles `send`: V8 leaves out what has not run. */
  private more(): boolean {
    const granted = this.budget.take(Math.min(this.grant, this.words[GRANTED] + FIRST_GRANT));
    this.grantMore(granted);
    return granted > 0;
  }

  private grantMore(records: number): void {
    this.words[GRANTED] += records;
    this.words[SPARE] += records;
  }
}

/** An address range of `bytes`, or the largest half, quarter… of it that the system lets us reserve. */
function reserve(bytes: number, least: number): Reserved {
  for (let size = bytes; size >= least * 16; size = Math.ceil(size / 2 / least) * least) {
    try {
      return reserved(size);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  throw new RangeError('event memory: the system refuses to reserve even a small address range');
}
