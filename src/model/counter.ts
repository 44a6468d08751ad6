/**
 * What a counter counted between two readings. Files hold counters as they were read; all code that subtracts two readings
 * uses this one rule, which distinguishes rollovers, dips and resets (docs/formats/tacc.md):
 *
 * 1. After a reboot, or if the counter stuck at its maximum and was cleared: `reset`; the value was counted.
 * 2. If its control register changed: `suspect`; nothing was counted, because it counted other events.
 * 3. At the maximum of a counter that sticks: `suspect`; at least the difference was counted.
 * 4. Forwards, modulo its range, by a possible amount: `ok`, or `wrapped` if it rolled over. If the interval is
 *    so long that it may have rolled over once more: `suspect`; at least the difference was counted.
 * 5. The same if all other counters of its device fell too, although that many do not roll over at once: `reset`; if
 *    they might: `suspect`. At least the value was counted.
 * 6. Backwards by a little: `dip`; nothing was counted, and the next value is compared with the one before the dip.
 * 7. Backwards by more: `reset`; the value was counted.
 * 8. Forwards by an impossible amount: `suspect`; nothing was counted, and the next value is compared with the one before;
 *    if it agrees with the suspect value instead, with that.
 *
 * So `delta` is what was certainly counted: exact for `ok` and `wrapped`, otherwise a lower bound.
 */

/** Facts about a counter beyond its readings, from `counter-rules.ts`. */
export interface CounterRule {
  /**
   * Number of values of the counter: 2^bits. There are several if the collector rescaled readings by a factor that the file
   * does not give: the first that is above the values is used. Values above all of them come from a wider counter.
   */
  readonly ranges: readonly bigint[];
  /** The smallest number in `ranges`. */
  readonly narrowest: number;
  /** Counts per second that no machine exceeds: a larger rise is a misreading. */
  readonly most: number;
  /**
   * Counts per second that a program may sustain for minutes: they decide whether the counter rolled over, or may have once more.
   */
  readonly lasting: number;
  /** A fall by up to this share of the previous value is a dip; a larger one a reset. */
  readonly dip: number;
  /** Value at which the counter sticks until it is cleared; null for one that rolls over. */
  readonly top: bigint | null;
  /** Only a reboot resets it. */
  readonly steady: boolean;
}

/**
 * The verdict on a difference of two readings: `ok`, a rollover that was corrected, a dip (nothing was counted), a reset or a
 * suspect step (the count is not known).
 */
export type CounterVerdict = 'ok' | 'wrapped' | 'dip' | 'reset' | 'suspect';

/** Two readings of a counter and the seconds between them, with the rule of its width. */
export interface Reading {
  /** The reading before, in the counter's unit; after a dip, the highest (`Repaired.base`). */
  readonly previous: bigint;
  /** The reading, in the counter's unit. */
  readonly value: bigint;
  /** Seconds between the two. */
  readonly seconds: number;
  /** How the counter behaves: its width, its limits. */
  readonly rule: CounterRule;
  /** What was read last, in the counter's unit, where that is not `previous`. */
  readonly last?: bigint;
  /** The host was started again in between. */
  readonly rebooted?: boolean;
  /** Name of the control register that changed in between. */
  readonly control?: string;
  /** If all counters of the device fell: the probability that all rolled over (`chanceOfAll`). */
  readonly together?: number;
}

/** What was counted between two readings, and the reading with which the next one is compared. */
export interface Repaired {
  /** What was certainly counted, in the counter's unit; never negative. */
  readonly delta: bigint;
  /** What happened between the two readings. */
  readonly verdict: CounterVerdict;
  /** The reason, as one clause; '' if ok. */
  readonly reason: string;
  /** The reading with which the next one is compared, in the counter's unit. */
  readonly base: bigint;
}

/** 1.x stores times in whole seconds: an interval may be longer by one. */
const SLACK_SECONDS = 1;
const WHOLE = 1n << 64n;
/** If all counters of a device fall at once, they were reset if that probability is below the first bound, and perhaps reset if below the second. */
const NEVER = 1e-4;
const SELDOM = 1e-3;

const mod = (value: bigint, modulus: bigint) => {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
};

/** Maximum counts in an interval. */
export const mostIn = (seconds: number, { most }: CounterRule): number =>
  most * (Math.max(seconds, 0) + SLACK_SECONDS);

/** Counts that a program may sustain over an interval. */
const lastingIn = (seconds: number, { lasting }: CounterRule): number =>
  lasting * (Math.max(seconds, 0) + SLACK_SECONDS);

/** Whether a counter that rose by `rise` may have rolled over in between; one that sticks at its maximum never does. */
export const mayHaveRolled = (rise: number, seconds: number, rule: CounterRule): boolean =>
  rule.top === null && rise + rule.narrowest <= lastingIn(seconds, rule);

/** A counter's range: the first above its values. */
const rangeOf = (highest: bigint, { ranges }: CounterRule) =>
  ranges.find((one) => highest < one) ?? WHOLE;

/**
 * The probability that a counter that fell from `previous` to `value` rolled over: the way in between as a share of its range;
 * 0 if it cannot have counted so much. Counters of a device roll over independently, so the probability that all did is
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
  const to = (verdict: CounterVerdict, delta: bigint, reason: string, base = value): Repaired => ({
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

/** Whether the whole count is known; otherwise `delta` is a lower bound. */
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
   * compared; NaN for the first, and if it is not known.
   */
  step(seconds: number, value: bigint): number {
    if (Number.isNaN(this.since)) {
      this.go(seconds, value, value);
      return Number.NaN;
    }
    const [rule, previous] = [this.rule, this.base];
    const elapsed = seconds - this.since;
    // The usual case: `repair` would return the same.
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

/** The same for a total stored as a double: it never rolls over, and after a fall nothing is known. */
export const risen = (before: number, after: number): number =>
  after >= before ? after - before : Number.NaN;
