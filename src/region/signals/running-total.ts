/** A counter of a file as a total that never goes back: wraps are counted, resets are gone over. */
import type { PolledFile } from '../polled-file.ts';
import type { Tick } from '../tick.ts';
import { Wide } from './digits.ts';
import type { SignalReader } from './provider.ts';

/** Units of the counter a second beyond which a step back is not believed to be a wrap: 100 kW in microjoules. */
const MOST_RATE = 1e11;

export class RunningTotal implements SignalReader {
  readonly #file: PolledFile;
  readonly #tick: Tick;
  readonly #scale: number;
  /** Values of one turn; 0: the counter has no known end, so what steps back was reset. */
  readonly #turn: number;
  readonly #now = new Wide();
  readonly #last = new Wide();
  /** The counter when it was first seen, and what it has counted since. */
  #first = 0;
  #counted = 0;
  #seen = false;
  #lastTime = 0;

  /** @param turn number of different values, `max + 1`; 0 where the counter does not wrap */
  constructor(tick: Tick, file: PolledFile, scale: number, turn = 0) {
    this.#tick = tick;
    this.#file = file;
    this.#scale = scale;
    this.#turn = turn;
  }

  read(): number {
    if (this.#file.length === 0 || !this.#now.parse(this.#file.bytes, this.#file.length)) {
      return Number.NaN;
    }
    if (this.#seen) this.#counted += this.#step();
    else this.#first = this.#now.toNumber();
    this.#seen = true;
    this.#last.copy(this.#now);
    this.#lastTime = this.#tick.time;
    return (this.#first + this.#counted) * this.#scale;
  }

  #step(): number {
    const step = this.#now.minus(this.#last);
    if (step >= 0) return step;
    const wrapped = step + this.#turn;
    const rate = wrapped / Math.max(1e-3, this.#tick.time - this.#lastTime);
    // More than half a turn at a rate that no machine has: it began anew.
    const isReset = wrapped < 0 || (wrapped > this.#turn / 2 && rate > MOST_RATE);
    return isReset ? this.#now.toNumber() : wrapped;
  }
}
