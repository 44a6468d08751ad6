/**
 * The page on which one thread keeps the regions it marks: shared memory that others read while it runs, and that
 * keeps what was counted however the thread ends. Nothing can overflow; nothing is allocated to mark.
 *
 * ```
 * word 0          regions
 *      2 + 2 r    region r: times entered, 1 while inside
 * f64  33 + 2 r   seconds inside, all completed visits; time of the last entry (performance.now(), ms)
 * ```
 */

/** How whoever does the work says where it is. Marks of one thread nest like brackets. */
export interface PhaseMarks {
  enter(region: number): void;
  exit(region: number): void;
}

/** Totals of one region. */
interface RegionTotal {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
}

const MOST = 30;
const FIRST = 2;
const TIMES = 33;
const BYTES = 1024;

export class RegionPage implements PhaseMarks {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;
  private readonly times: Float64Array;

  /** @param memory of a page that exists; a new one otherwise */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.words = new Int32Array(memory);
    this.times = new Float64Array(memory);
    this.words[0] = MOST;
  }

  enter(region: number): void {
    this.words[FIRST + 2 * region]++;
    this.words[FIRST + 2 * region + 1] = 1;
    this.times[TIMES + 2 * region + 1] = performance.now();
  }

  exit(region: number): void {
    const at = TIMES + 2 * region;
    this.times[at] += (performance.now() - this.times[at + 1]) / 1000;
    this.words[FIRST + 2 * region + 1] = 0;
  }

  /** Totals so far of the regions called `names`, in their order. */
  totals(names: readonly string[]): RegionTotal[] {
    return names.map((name, r) => ({
      name,
      count: this.words[FIRST + 2 * r],
      seconds: this.times[TIMES + 2 * r],
    }));
  }
}
