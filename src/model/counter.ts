/**
 * What a counter counted between two readings. Files hold counters as they were read; whoever subtracts two readings
 * does it by this one rule, which tells rollovers, dips and resets apart (docs/formats/tacc.md):
 *
 * 1. After a reboot, or where the counter stuck at its top and was cleared: `reset`, counted is the value.
 * 2. Where its control register changed: `suspect`, counted is nothing: it counted other events.
 * 3. At the top of a counter that sticks: `suspect`, counted is at least the difference.
 * 4. Forwards, modulo its range, by no more than can be: `ok`, or `wrapped` where it rolled over. Where the interval is
 *    so long that it may have rolled over once more: `suspect`, counted is at least the difference.
 * 5. The same where all other counters of its device fell too, though that many do not roll over at once: `reset`; where
 *    they might: `suspect`. Counted is at least the value.
 * 6. Backwards by a little: `dip`, counted is nothing, and the next value is compared with the one before the dip.
 * 7. Backwards by more: `reset`, counted is the value.
 * 8. Forwards by more than can be: `suspect`, counted is nothing, and the next value is compared with the one before;
 *    where it agrees with the strange one instead, with that.
 *
 * So `delta` is what was surely counted: exact where `ok` and `wrapped`, else a lower bound.
 */

/** What is known of a counter beyond its readings; `counter-rules.ts` has the facts. */
export interface CounterRule {
  /**
   * Number of values of the counter: 2^bits. Several where the collector rescaled what it read by a factor that the file
   * does not tell: the first that is above the values is taken. Values above all of them are from a wider counter.
   */
  readonly ranges: readonly bigint[];
  /** The smallest number in `ranges`. */
  readonly narrowest: number;
  /** Counts a second that no machine exceeds: a rise beyond it was misread. */
  readonly most: number;
  /**
   * Counts a second that a program keeps up for minutes: whether it rolled over, or may have once more, goes by this.
   */
  readonly lasting: number;
  /** A fall of up to this share of the value before is a dip; a deeper one a reset. */
  readonly dip: number;
  /** Value at which the counter sticks until it is cleared; null for one that rolls over. */
  readonly top: bigint | null;
  /** Nothing but a reboot resets it. */
  readonly steady: boolean;
}

/**
 * What a difference of two readings is: `ok`, a roll-over that was repaired, a dip (nothing was counted), a reset or a
 * doubtful step (what was counted is not known).
 */
export type Verdict = 'ok' | 'wrapped' | 'dip' | 'reset' | 'suspect';

/** Two readings of a counter and the seconds between them, with the rule of its width. */
export interface Reading {
  /** The reading before, in the counter's unit; after a dip, the highest (`Repaired.base`). */
  readonly previous: bigint;
  /** The reading, in the counter's unit. */
  readonly value: bigint;
  /** Seconds between the two. */
  readonly seconds: number;
  readonly rule: CounterRule;
  /** What was read last, in the counter's unit, where that is not `previous`. */
  readonly last?: bigint;
  /** The host was started again in between. */
  readonly rebooted?: boolean;
  /** Name of the control register that changed in between. */
  readonly control?: string;
  /** Where all counters of the device fell: the chance that all rolled over (`chanceOfAll`). */
  readonly together?: number;
}

/** What was counted between two readings, and what the next one is compared with. */
export interface Repaired {
  /** What was surely counted, in the counter's unit; never negative. */
  readonly delta: bigint;
  readonly verdict: Verdict;
  /** One clause; '' where ok. */
  readonly reason: string;
  /** What to compare the next reading with, in the counter's unit. */
  readonly base: bigint;
}

/** Times are kept in whole seconds by 1.x: an interval may be longer by one. */
const SLACK = 1;
const WHOLE = 1n << 64n;
/** All counters of a device that fall at once began anew below the first chance, and perhaps below the second. */
const NEVER = 1e-4;
const SELDOM = 1e-3;

const mod = (value: bigint, modulus: bigint) => {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
};

/** Counts that an interval can have at most. */
export const mostIn = (seconds: number, { most }: CounterRule): number =>
  most * (Math.max(seconds, 0) + SLACK);

/** Counts that a program keeps up over an interval. */
const lastingIn = (seconds: number, { lasting }: CounterRule): number =>
  lasting * (Math.max(seconds, 0) + SLACK);

/** Whether a counter that rose by `rise` may have rolled over on the way; one that sticks at its top never does. */
export const mayHaveRolled = (rise: number, seconds: number, rule: CounterRule): boolean =>
  rule.top === null && rise + rule.narrowest <= lastingIn(seconds, rule);

/** A counter's range: the first above its values. */
const rangeOf = (highest: bigint, { ranges }: CounterRule) =>
  ranges.find((one) => highest < one) ?? WHOLE;

/**
 * The chance that a counter that fell from `previous` to `value` did so by rolling over: its way as a share of its range;
 * 0 where it cannot have come so far. Counters of a device roll over independently, so that the chance that all did is
 * the product of theirs.
 */
export function chanceOfRolling(
  previous: bigint,
  value: bigint,
  seconds: number,
  rule: CounterRule,
): number {
  const range = rangeOf(previous, rule);
  const forward = Number(mod(value - previous, range));
  return forward <= lastingIn(seconds, rule) ? forward / Number(range) : 0;
}

/**
 * What a counter counted between two readings, by the rule above; exact for values of 64 bits.
 * @example
 * ```ts
 * import { counterRule, repair } from 'triscope/formats/tacc';
 *
 * const key = { name: 'user', kind: 'event', bits: 64, unit: 'cs' } as const;
 * const rule = counterRule('cpu', key);
 * const { delta, verdict } = repair({ previous: 100n, value: 160n, seconds: 1, rule }); // 60n, 'ok'
 * ```
 */
export function repair(reading: Reading): Repaired {
  const { previous, value, rule } = reading;
  const to = (verdict: Verdict, delta: bigint, reason: string, base = value): Repaired => ({
    delta,
    verdict,
    reason,
    base,
  });
  if (reading.rebooted === true) return to('reset', value, 'the host was started again');
  if (reading.control !== undefined) {
    return to('suspect', 0n, `${reading.control} changed: it counts other events`);
  }
  const fell = value < previous;
  const highest = fell ? previous : value;
  const range = rangeOf(highest, rule);
  if (rule.top !== null && highest === rule.top) {
    if (fell) return to('reset', value, `cleared after it stuck at ${previous}`);
    return to('suspect', value - previous, `stuck at its top, ${value}: it counted more`);
  }
  const forward = mod(value - previous, range);
  const most = mostIn(reading.seconds, rule);
  const lasting = lastingIn(reading.seconds, rule);
  const more = rule.top === null && Number(forward + range) <= lasting;
  if (more && (!fell || reading.together === undefined)) {
    return to(
      'suspect',
      forward,
      `may have rolled over at ${range} once more in ${reading.seconds} s`,
    );
  }
  if (!fell && Number(forward) <= most) return to('ok', forward, '');
  const { together = 1 } = reading;
  const rolls = rule.top === null || 2n * forward < range;
  if (fell && rolls && Number(forward) <= lasting) {
    if (together < NEVER) return to('reset', value, 'all counters of its device began anew');
    if (more || together < SELDOM) {
      return to('suspect', value, 'rolled over, or began anew with the others of its device');
    }
    return to('wrapped', forward, `rolled over at ${range}`);
  }
  const back = mod(previous - value, range);
  if (Number(back) <= Number(highest) * rule.dip) {
    return to('dip', 0n, `fell by ${back}: compared with ${previous} from here on`, previous);
  }
  if (fell) return to('reset', value, `fell from ${previous} to ${value}`);
  const { last = previous } = reading;
  if (last !== previous && value >= last && Number(value - last) <= most) {
    return to('suspect', value - last, `goes on from ${last}, which it should not have reached`);
  }
  return to('suspect', 0n, `rose by ${forward} in ${reading.seconds} s, which cannot be`, previous);
}

/** Whether all that was counted is known: else `delta` is a lower bound. */
export const isExact = ({ verdict }: Repaired): boolean =>
  verdict === 'ok' || verdict === 'wrapped' || verdict === 'dip';

/** One counter, reading by reading. */
export class Counter {
  private readonly rule: CounterRule;
  private base = 0n;
  private last = 0n;
  /** Seconds at which the base was read; NaN before the first reading. */
  private since = Number.NaN;

  constructor(rule: CounterRule) {
    this.rule = rule;
  }

  /**
   * Takes the next reading, at `seconds` of any clock. Returns what was counted since the last one that could be
   * compared; NaN at the first, and where that is not known.
   */
  step(seconds: number, value: bigint): number {
    if (Number.isNaN(this.since)) {
      this.go(seconds, value, value);
      return Number.NaN;
    }
    const [rule, previous] = [this.rule, this.base];
    const elapsed = seconds - this.since;
    // Nearly all readings: `repair` would say the same.
    if (rule.top === null && value >= previous) {
      const rise = Number(value - previous);
      if (rise <= mostIn(elapsed, rule) && !mayHaveRolled(rise, elapsed, rule)) {
        this.go(seconds, value, value);
        return rise;
      }
    }
    const repaired = repair({ previous, value, seconds: elapsed, rule, last: this.last });
    this.go(seconds, value, repaired.base);
    return isExact(repaired) ? Number(repaired.delta) : Number.NaN;
  }

  private go(seconds: number, value: bigint, base: bigint): void {
    if (base === value) this.since = seconds;
    this.base = base;
    this.last = value;
  }
}

/** The same for a total that is kept as a double: it never rolls over, and where it fell nothing is known. */
export const risen = (before: number, after: number): number =>
  after >= before ? after - before : Number.NaN;
