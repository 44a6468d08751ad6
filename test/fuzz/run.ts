/** Runs cases of one format. A case follows from the format's name, the seed and its number alone. */
import type { Base } from './base.ts';
import { FUZZED, judgeOf, type Through } from './formats.ts';
import { type Damaged, damaged } from './mutate.ts';
import { Random, seedOf } from './random.ts';
import type { Verdict } from './rule.ts';

export interface Failure {
  readonly number: number;
  readonly file: string;
  readonly how: string;
  readonly bytes: Uint8Array;
  readonly message: string;
}

export interface Tally {
  cases: number;
  readonly verdicts: Record<Verdict, number>;
  /** Damage by kind: how many cases had it. */
  readonly kinds: Record<string, number>;
  failed: number;
  /** The first of them. */
  readonly failures: Failure[];
}

/** Cases after which the event loop has its turn. */
const TURN = 64;
/** Failures that are told one by one. */
const TOLD = 20;

export const newTally = (): Tally => ({
  cases: 0,
  verdicts: { same: 0, told: 0, refused: 0, other: 0 },
  kinds: {},
  failed: 0,
  failures: [],
});

export interface Case {
  readonly base: Base;
  readonly damage: Damaged;
  /** For what is left to choose: how it is read. */
  readonly random: Random;
}

/** The case of a number. */
export function caseOf(format: string, bases: readonly Base[], seed: number, number: number): Case {
  const random = new Random(seedOf(`${format} ${seed}`, number));
  const base = random.of(bases);
  const target = { ...base, ends: base.places, other: random.of(bases).bytes };
  return { base, damage: damaged(target, random), random };
}

/** Runs cases `from` to `to`, the last excluded. `began` hears of each before it runs, and ends the run where it says no. */
export async function runCases(
  format: string,
  range: { readonly seed: number; readonly from: number; readonly to: number },
  through: Through = 'readers',
  began: (number: number) => boolean = () => true,
): Promise<Tally> {
  const bases = FUZZED[format].bases();
  const judge = judgeOf(format, through);
  const tally = newTally();
  for (let number = range.from; number < range.to && began(number); number++) {
    // What Node frees between turns, such as unpackers that failed, is freed.
    if (number % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const { base, damage, random } = caseOf(format, bases, range.seed, number);
    tally.cases++;
    for (const kind of new Set(damage.how.split(' + '))) {
      tally.kinds[kind] = (tally.kinds[kind] ?? 0) + 1;
    }
    try {
      tally.verdicts[await judge(base, damage, random)]++;
    } catch (error) {
      tally.failed++;
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const { bytes, how } = damage;
      if (tally.failures.length < TOLD) {
        tally.failures.push({ number, file: base.name, how, bytes, message });
      }
    }
  }
  return tally;
}
