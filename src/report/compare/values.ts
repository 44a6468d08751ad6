/** Compares the numbers of two sides by name: by how much they differ, and whether chance explains it. */
import type { Good, Measured } from './measures.ts';
import {
  beyondChance,
  detectable,
  type Estimate,
  estimateOf,
  gapOf,
  type RunValue,
} from './noise.ts';
import type { Scope } from './scope.ts';

/**
 * `same`: not a digit differs; `noise`: they differ by no more than chance explains; `changed`: by more; `unknown`: they
 * differ, and nothing tells how much chance explains.
 */
export type ChangeVerdict = 'same' | 'noise' | 'changed' | 'unknown' | 'only a' | 'only b';

interface SideValue {
  /** Of several runs the median. */
  readonly value: number;
  /** Standard error; null where nothing tells it. */
  readonly error: number | null;
  /** The values of the runs. */
  readonly runs: readonly number[];
  /** Of the first run, by stretch; empty except for the run and its phases. */
  readonly course: readonly (number | null)[];
}

export interface Change {
  readonly scope: Scope;
  /** Of A; of B where A has none. */
  readonly host: string | null;
  readonly entity: string;
  readonly key: string;
  readonly unit: string;
  readonly a: SideValue | null;
  readonly b: SideValue | null;
  /** B − A. */
  readonly change: number | null;
  /** Half the width of its 95 % interval; null where that is not known. */
  readonly bound: number | null;
  /** A change of this size would be called in 19 of 20 such comparisons, smaller ones less often; null as above. */
  readonly detectable: number | null;
  readonly verdict: ChangeVerdict;
  /** Which way is good, as its measure declares it; null where neither is. */
  readonly good: Good;
  /** For a number that changed beyond noise; null for others, and where neither direction is good. */
  readonly judgement: 'better' | 'worse' | null;
}

/** A number of a run. */
export interface NamedValue extends Omit<Measured, 'samples'>, RunValue {
  readonly good: Good;
  readonly course: readonly (number | null)[];
}

/** A number of a side's runs, hosts called as in the first run of A. */
interface SideRuns {
  readonly host: string | null;
  readonly runs: NamedValue[];
}

/** A run's numbers, and what its hosts are called. */
export type Side = readonly (readonly [
  values: readonly NamedValue[],
  hosts: ReadonlyMap<string, string> | undefined,
])[];

/** By name the values of each run that has it. */
function sideOf(runs: Side): Map<string, SideRuns> {
  const byName = new Map<string, SideRuns>();
  for (const [values, hosts] of runs) {
    for (const one of values) {
      const host = one.host === null ? null : (hosts?.get(one.host) ?? one.host);
      const name = `${host ?? ''}\0${one.entity}\0${one.key}\0${one.unit}`;
      const known = byName.get(name);
      if (known !== undefined) known.runs.push(one);
      else byName.set(name, { host, runs: [one] });
    }
  }
  return byName;
}

const sideValue = (
  { runs }: SideRuns,
  { value, error }: Estimate = estimateOf(runs),
): SideValue => ({
  value,
  error,
  runs: runs.map((run) => run.value),
  course: runs[0].course,
});

type Unjudged = { -readonly [K in keyof Change]: Change[K] };

function changeOf(scope: Scope, a: SideRuns | null, b: SideRuns | null): Unjudged {
  const one = (a ?? b) as SideRuns;
  const { entity, key, unit, good } = one.runs[0];
  return {
    ...{ scope, host: one.host, entity, key, unit },
    a: a === null ? null : sideValue(a),
    b: b === null ? null : sideValue(b),
    ...{ change: null, bound: null, detectable: null, good, judgement: null },
    verdict: a === null ? 'only b' : 'only a',
  };
}

/** In A's order, then what only B has. There may be thousands of numbers, so few objects are made for each. */
export function compareValues(scope: Scope, sideA: Side, sideB: Side): readonly Change[] {
  const [a, b] = [sideOf(sideA), sideOf(sideB)];
  const both: Unjudged[] = [];
  const only: Change[] = [];
  const chances: number[] = [];
  const errors: number[] = [];
  const freedoms: number[] = [];
  for (const [name, inA] of a) {
    const inB = b.get(name);
    if (inB === undefined) {
      only.push(changeOf(scope, inA, null));
      continue;
    }
    const [ofA, ofB] = [estimateOf(inA.runs), estimateOf(inB.runs)];
    const { change, error, freedom, bound, chance } = gapOf(ofA, ofB);
    const isSame = Math.abs(change) <= ROUNDING * Math.abs(ofA.value);
    const { entity, key, unit, good } = inA.runs[0];
    both.push({
      scope,
      host: inA.host,
      entity,
      key,
      unit,
      a: sideValue(inA, ofA),
      b: sideValue(inB, ofB),
      change: isSame ? 0 : change,
      bound,
      detectable: null,
      good,
      judgement: null,
      verdict: isSame ? 'same' : chance === null ? 'unknown' : 'noise',
    });
    chances.push(isSame ? Number.NaN : (chance ?? Number.NaN));
    errors.push(error ?? Number.NaN);
    freedoms.push(freedom);
  }
  const { beyond, level } = beyondChance(
    chances.map((chance) => (Number.isNaN(chance) ? null : chance)),
  );
  for (const [k, one] of both.entries()) {
    if (beyond[k]) {
      one.verdict = 'changed';
      one.judgement = judged(one.good, one.change ?? 0);
    }
    if (!Number.isNaN(errors[k])) {
      one.detectable = detectable({ error: errors[k], freedom: freedoms[k] }, level);
    }
  }
  for (const [name, inB] of b) if (!a.has(name)) only.push(changeOf(scope, null, inB));
  return [...both, ...only];
}

function judged(good: Good, change: number): Change['judgement'] {
  if (good === null || change === 0) return null;
  return change > 0 === (good === 'more') ? 'better' : 'worse';
}

/** Differences up to this share of A's number are rounding. */
const ROUNDING = 1e-12;
