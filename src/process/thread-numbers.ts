/**
 * Numbers of /proc/PID/task/TID/stat and schedstat, read from bytes ten times a second for each thread: no texts are made,
 * and no bigints where a double holds the number. Source: proc(5); Documentation/scheduler/sched-stats.
 */

/** Bigint only where a double cannot hold it. */
export type Count = number | bigint;

const [ZERO, NINE, SPACE, MINUS] = [...'09 -'].map((letter) => letter.charCodeAt(0));
const [OPEN, CLOSE] = [...'()'].map((letter) => letter.charCodeAt(0));
/** Digits of the numbers that a double holds for certain. */
const SAFE_DIGITS = 15;
/**
 * Fields of `stat` as proc(5) numbers them: from the third, the state, to the last that is needed, the CPU.
 */
const STATE = 3;
const CPU = 39;

const fields: Count[] = new Array<Count>(CPU + 1).fill(0);
/** Fields that are taken, of `stat` and of `schedstat`: among the others is one that no double holds. */
const TAKEN = new Uint8Array(CPU + 1);
for (const field of [0, 1, 2, 4, 10, 12, 14, 15, 20, CPU]) TAKEN[field] = 1;

/**
 * Reads whole numbers between single spaces into `fields`. Returns the number of the field after the last.
 */
function readFields(bytes: Buffer, from: number, to: number, first: number): number {
  let field = first;
  for (let at = from; at < to && field <= CPU; at++, field++) {
    if (TAKEN[field] === 0) {
      while (at < to && bytes[at] !== SPACE) at++;
      continue;
    }
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    const start = at;
    let value = 0;
    for (; at < to && bytes[at] >= ZERO && bytes[at] <= NINE; at++) {
      value = 10 * value + bytes[at] - ZERO;
    }
    if (at === start) return field;
    const whole = at - start <= SAFE_DIGITS ? value : BigInt(bytes.toString('latin1', start, at));
    fields[field] = isNegative ? -whole : whole;
    if (at < to && bytes[at] !== SPACE) return field + 1;
  }
  return field;
}

/** What a thread's files said last. */
export class ThreadNumbers {
  name = '';
  private nameBytes = Buffer.alloc(0);
  /** R, S, D, T, Z, …; '' before it was read. */
  state = '';
  parent = 0;
  /** Threads of its process. */
  threads = 0;
  cpu = 0;
  minorFaults: Count = 0;
  majorFaults: Count = 0;
  /** Ticks. */
  user: Count = 0;
  system: Count = 0;
  /** Nanoseconds. */
  running: Count = 0;
  waiting: Count = 0;
  timeslices: Count = 0;

  /** Takes `stat`; false where the bytes are not one. A name may hold spaces and brackets. */
  takeStat(bytes: Buffer, length: number): boolean {
    let close = length - 1;
    while (close >= 0 && bytes[close] !== CLOSE) close--;
    const open = bytes.indexOf(OPEN);
    if (open < 0 || close < open) return false;
    if (readFields(bytes, close + 4, length, STATE + 1) <= CPU) return false;
    const name = bytes.subarray(open + 1, close);
    if (this.state === '' || !this.nameBytes.equals(name)) {
      this.nameBytes = Buffer.from(name);
      this.name = this.nameBytes.toString('latin1');
    }
    this.state = String.fromCharCode(bytes[close + 2]);
    this.parent = Number(fields[4]);
    this.minorFaults = fields[10];
    this.majorFaults = fields[12];
    this.user = fields[14];
    this.system = fields[15];
    this.threads = Number(fields[20]);
    this.cpu = Number(fields[CPU]);
    return true;
  }

  /**
   * Takes `schedstat`. Null if the bytes are none, else whether the thread has run, or waited for a CPU, since the
   * last sample.
   */
  takeSchedule(bytes: Buffer, length: number): boolean | null {
    if (readFields(bytes, 0, length, 0) !== 3) return null;
    const [running, waiting, timeslices] = fields;
    const isSame =
      running === this.running && waiting === this.waiting && timeslices === this.timeslices;
    this.running = running;
    this.waiting = waiting;
    this.timeslices = timeslices;
    return !isSame;
  }
}
