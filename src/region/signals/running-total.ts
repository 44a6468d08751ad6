/** A counter as a total that never falls: rollovers are counted and resets bridged, by the rule of `model/counter.ts`. */
import { type CounterRule, mostIn, repair } from '../../model/counter.ts';
import type { PolledFile } from '../polled-file.ts';
import type { Tick } from '../tick.ts';
import { Wide } from './digits.ts';
import type { SignalReader } from './provider.ts';

/** Reads the counter's present value; false if it cannot be read. */
export type ReadCounter = (into: Wide) => boolean;

/** Counts per second that no sensor or register here exceeds: 100 kW in microjoules, or cycles at 100 GHz. */
const MOST = 1e11;
/** A fall of up to this fraction is a dip. */
const DIP = 1 / 1000;
const WIDEST = 1n << 64n;

/** The rule for a counter with `turn` different values (`max + 1`); 0: its width is unknown. */
const ruleOf = (turn: number): CounterRule => ({
  ranges: [turn === 0 ? WIDEST : BigInt(turn)],
  narrowest: turn === 0 ? Number(WIDEST) : turn,
  most: MOST,
  lasting: MOST,
  dip: DIP,
  top: null,
  steady: true,
});

export class RunningTotal implements SignalReader {
  private readonly counter: ReadCounter;
  private readonly tick: Tick;
  private readonly scale: () => number;
  private readonly rule: CounterRule;
  private readonly now = new Wide();
  /** The value with which the next one is compared, and when it was read. */
  private readonly base = new Wide();
  private since = Number.NaN;
  /** The counter's first value, and what it has counted since. */
  private first = 0;
  private counted = 0;

  constructor(tick: Tick, counter: ReadCounter, scale: () => number, turn = 0) {
    this.tick = tick;
    this.counter = counter;
    this.scale = scale;
    this.rule = ruleOf(turn);
  }

  read(): number {
    if (!this.counter(this.now)) return Number.NaN;
    if (Number.isNaN(this.since)) {
      this.first = this.now.toNumber();
      this.go();
    } else this.counted += this.step();
    return (this.first + this.counted) * this.scale();
  }

  /** The increase that is certain. */
  private step(): number {
    const rise = this.now.minus(this.base);
    const seconds = this.tick.time - this.since;
    // Nearly all readings take this path: `repair` would give the same result, but make objects.
    if (rise >= 0 && rise <= mostIn(seconds, this.rule)) {
      this.go();
      return rise;
    }
    const value = this.now.toBigInt();
    const repaired = repair({ previous: this.base.toBigInt(), value, seconds, rule: this.rule });
    if (repaired.base === value) this.go();
    return Number(repaired.delta);
  }

  private go(): void {
    this.base.copy(this.now);
    this.since = this.tick.time;
  }
}

/** The total of a counter whose decimal digits are in a file, times `scale`. */
export function totalOfFile(tick: Tick, file: PolledFile, scale: number, turn = 0): RunningTotal {
  const counter: ReadCounter = (into) => file.length > 0 && into.parse(file.bytes, file.length);
  return new RunningTotal(tick, counter, () => scale, turn);
}
