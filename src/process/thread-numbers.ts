/**
 * Numbers of /proc/PID/task/TID/stat and schedstat, read from bytes ten times a second for each thread. Nothing is made
 * on the way, no texts and no bigints: the counts of 64 bits are kept as pairs of halves. Source: proc(5);
 * Documentation/scheduler/sched-stats.
 */

const [ZERO, NINE, SPACE] = [...'09 '].map((letter) => letter.charCodeAt(0));
const [OPEN, CLOSE] = [...'()'].map((letter) => letter.charCodeAt(0));
/** Digits of the numbers that a double holds for certain. */
const SAFE_DIGITS = 15;
const HALF = 2 ** 32;
/** Which of the two halves of a number of 64 bits comes first in memory. */
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;
/** Digits that a number of ticks lacks to be one of nanoseconds: what programs see are hundredths of a second on every Linux. */
const TICK_DIGITS = 7;
/** Bytes of the longest name, a kernel thread's. */
const LONGEST_NAME_BYTES = 64;

/** The counts of a thread, by their places in `ThreadNumbers.counts`. */
export const COUNT = {
  ...{ running: 0, waiting: 1, timeslices: 2 },
  ...{ minorFaults: 3, majorFaults: 4, user: 5, system: 6 },
} as const;
export const COUNTS = 7;

/** Fields of `stat` that are taken, as proc(5) numbers them. */
const FIELD = { state: 3, parent: 4, threads: 20, cpu: 39 } as const;
/** For each field of `stat` one more than the count's place; 0 for those that are none. */
const COUNT_OF = new Uint8Array(FIELD.cpu + 1);
COUNT_OF[10] = COUNT.minorFaults + 1;
COUNT_OF[12] = COUNT.majorFaults + 1;
COUNT_OF[14] = COUNT.user + 1;
COUNT_OF[15] = COUNT.system + 1;

/** Where the number that was read last ends. */
let end = 0;

/** Reads the digits from `at` on as a count of 64 bits, with `zeros` more after them. False where there are none. */
function readCount(
  bytes: Uint8Array,
  at: number,
  to: number,
  into: Uint32Array,
  place: number,
  zeros = 0,
): boolean {
  let value = 0;
  end = at;
  const safe = Math.min(to, at + SAFE_DIGITS - zeros);
  while (end < safe && bytes[end] >= ZERO && bytes[end] <= NINE) {
    value = 10 * value + bytes[end++] - ZERO;
  }
  if (end === at) return false;
  let digits = zeros;
  let low = value % HALF;
  let high = (value - low) / HALF;
  // What a double might not hold goes on in halves.
  for (; end < to && bytes[end] >= ZERO && bytes[end] <= NINE; end++) {
    low = 10 * low + bytes[end] - ZERO;
    high = 10 * high + Math.floor(low / HALF);
    low %= HALF;
  }
  for (; digits > 0; digits--) {
    low *= 10;
    high = 10 * high + Math.floor(low / HALF);
    low %= HALF;
  }
  into[2 * place + LOW] = low;
  into[2 * place + 1 - LOW] = high;
  return true;
}

/** Reads a number that fits a double; -1 where there is none. */
function readSmall(bytes: Uint8Array, at: number, to: number): number {
  let value = 0;
  for (end = at; end < to && bytes[end] >= ZERO && bytes[end] <= NINE; end++) {
    value = 10 * value + bytes[end] - ZERO;
  }
  return end === at ? -1 : value;
}

/** What a thread's files said last. */
export class ThreadNumbers {
  name = '';
  private nameBytes = Buffer.alloc(0);
  /** R, S, D, T, Z, …; '' before it was read. */
  state = '';
  private letter = 0;
  parent = 0;
  /** Threads of its process. */
  threads = 0;
  cpu = 0;
  /** Its counts, by `COUNT`; times in nanoseconds. */
  readonly counts = new BigUint64Array(COUNTS);
  /** The same, as the pairs of halves that memory holds. */
  readonly halves = new Uint32Array(this.counts.buffer);

  /** Takes `stat`; false where the bytes are not one. A name may hold spaces and brackets. */
  takeStat(bytes: Buffer, length: number): boolean {
    let open = 0;
    while (open < length && bytes[open] !== OPEN) open++;
    let close = Math.min(length - 1, open + 1 + LONGEST_NAME_BYTES);
    while (close > open && bytes[close] !== CLOSE) close--;
    if (close <= open) return false;
    let field: number = FIELD.parent;
    for (let at = close + 4; at < length && field <= FIELD.cpu; field++) {
      const count = COUNT_OF[field];
      if (count > 0) {
        const zeros = count > COUNT.user ? TICK_DIGITS : 0;
        if (!readCount(bytes, at, length, this.halves, count - 1, zeros)) return false;
        at = end + 1;
      } else if (field === FIELD.parent || field === FIELD.threads || field === FIELD.cpu) {
        const value = readSmall(bytes, at, length);
        if (value < 0) return false;
        if (field === FIELD.parent) this.parent = value;
        else if (field === FIELD.threads) this.threads = value;
        else this.cpu = value;
        at = end + 1;
      } else {
        while (at < length && bytes[at] !== SPACE) at++;
        at++;
      }
    }
    if (field <= FIELD.cpu) return false;
    this.takeName(bytes, open + 1, close);
    const letter = bytes[close + 2];
    if (letter !== this.letter) {
      this.letter = letter;
      this.state = String.fromCharCode(letter);
    }
    return true;
  }

  /**
   * Takes `schedstat`. Null if the bytes are none, else whether the thread has run, or waited for a CPU, since the
   * last sample.
   */
  takeSchedule(bytes: Buffer, length: number): boolean | null {
    const { halves } = this;
    let changed = 0;
    for (let at = 0, count = 0; count < 3; count++, at = end + 1) {
      const [low, high] = [halves[2 * count], halves[2 * count + 1]];
      if (!readCount(bytes, at, length, halves, count)) return null;
      changed |= (halves[2 * count] ^ low) | (halves[2 * count + 1] ^ high);
    }
    return changed !== 0;
  }

  private takeName(bytes: Buffer, from: number, to: number): void {
    const { nameBytes } = this;
    let same = nameBytes.length === to - from && this.letter !== 0;
    for (let k = 0; same && k < nameBytes.length; k++) same = nameBytes[k] === bytes[from + k];
    if (same) return;
    this.nameBytes = Buffer.from(bytes.subarray(from, to));
    this.name = this.nameBytes.toString('latin1');
  }
}
