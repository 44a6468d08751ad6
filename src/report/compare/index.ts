/** Two recordings side by side: what changed, and by more than their samples scatter. See docs/diff.md. */
import { type Finding, findAll } from '../../findings/index.ts';
import { endedBy } from '../../query/ended-by.ts';
import { InputError, openRecording, type Suspect } from '../../query/index.ts';
import { hasOf } from '../gather.ts';
import { type Fact, factsOf, hostsOf } from './facts.ts';
import { compareFindings, type FindingChange } from './findings.ts';
import { pairHosts } from './hosts.ts';
import { type Measured, measured } from './measures.ts';
import { nodeSamples } from './nodes.ts';
import {
  beyondChance,
  detectable,
  estimateOf,
  gapOf,
  median,
  type RunValue,
  rampEnd,
  runValue,
} from './noise.ts';
import { regionTotals, visitSamples } from './regions.ts';
import { SCOPES, type Scope } from './scope.ts';
import { MEAN_PE, RAMP_KEY, simulatorSamples } from './simulator.ts';

export type { FindingChange } from './findings.ts';
export { SCOPES, type Scope };

/**
 * `same`: not a digit differs; `noise`: they differ by no more than chance explains; `changed`: by more; `unknown`: they
 * differ, and nothing tells how much chance explains.
 */
export type Verdict = 'same' | 'noise' | 'changed' | 'unknown' | 'only a' | 'only b';

interface SideValue {
  /** Of several runs the median. */
  readonly value: number;
  /** Standard error; null where nothing tells it. */
  readonly error: number | null;
  /** The values of the runs. */
  readonly runs: readonly number[];
  /** Of the first run, by stretch. */
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
  readonly verdict: Verdict;
}

export interface FactChange {
  readonly key: string;
  readonly unit: string;
  readonly a: Fact['value'] | null;
  readonly b: Fact['value'] | null;
}

export interface Comparison {
  readonly facts: readonly FactChange[];
  readonly changes: readonly Change[];
  readonly findings: readonly FindingChange[];
  /** B's hosts that stand for others of A. */
  readonly hosts: readonly { readonly a: string; readonly b: string }[];
  /** What was not compared, and why. */
  readonly notes: readonly string[];
  readonly suspects: readonly Suspect[];
}

interface NamedValue extends Omit<Measured, 'samples'>, RunValue {}

/** What one run says. */
interface Run {
  readonly path: string;
  readonly facts: readonly Fact[];
  readonly hosts: readonly string[];
  readonly values: ReadonlyMap<Scope, readonly NamedValue[]>;
  /** Seconds of its timeline that are its ramp; null where it has none. */
  readonly ramp: number | null;
  readonly findings: readonly Finding[];
  readonly suspects: readonly Suspect[];
}

async function runOf(path: string, signal?: AbortSignal): Promise<Run> {
  const opened = await openRecording(path);
  const recording = signal === undefined ? opened : endedBy(opened, signal);
  try {
    const has = await hasOf(recording);
    const found: (readonly [Scope, Measured])[] = [];
    const all = [
      ...simulatorSamples(has),
      ...visitSamples(has),
      ...(await nodeSamples(recording, has)),
    ];
    for (const one of await regionTotals(recording, has)) found.push(['region', one]);
    for (const samples of all) {
      for (const one of await measured(recording, samples)) found.push([samples.scope, one]);
    }
    const course = found.find(
      ([scope, one]) => scope === 'run' && `${one.key} ${one.unit}` === RAMP_KEY,
    );
    const ramp = course === undefined ? -Infinity : rampEnd(course[1]);
    const values = new Map<Scope, NamedValue[]>(SCOPES.map((scope) => [scope, []]));
    for (const [scope, { samples, ...about }] of found) {
      const value = runValue({ samples }, ramp);
      if (value !== null) values.get(scope)?.push({ ...about, ...value });
    }
    const hosts = await hostsOf(recording, has);
    return {
      path,
      facts: await factsOf(recording, path, hosts),
      hosts,
      values,
      ramp: ramp === -Infinity ? null : ramp,
      findings: await findAll(recording, { path, ...(signal && { signal }) }),
      suspects: recording.suspects,
    };
  } finally {
    await recording.close();
  }
}

/**
 * Runs of one setting beside runs of another.
 * @param pathsA one or more recordings of A; repetitions tell how much runs of one setting differ
 * @throws InputError, QueryError, MissingPieceError; the signal's reason
 */
export async function compareRecordings(
  pathsA: string | readonly string[],
  pathsB: string | readonly string[],
  signal?: AbortSignal,
): Promise<Comparison> {
  const paths = [pathsA, pathsB].map((one) => (typeof one === 'string' ? [one] : one));
  // Beside itself a recording is read once; two at a time, as each takes memory.
  const known = new Map<string, Run>();
  const left = [...new Set(paths.flat())];
  const readNext = async (): Promise<void> => {
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      known.set(path, await runOf(path, signal));
    }
  };
  await Promise.all([readNext(), readNext()]);
  const [a, b] = paths.map((side) => side.map((path) => known.get(path) as Run));
  const first = a[0];
  const names = new Map([...a, ...b].map((run) => [run, pairHosts(first.hosts, run.hosts)]));
  const { notes, keeps } = comparable([...a, ...b]);
  const changes = SCOPES.flatMap((scope) => {
    const of = (run: Run) => (run.values.get(scope) ?? []).filter((one) => keeps(scope, one));
    const side = (runs: readonly Run[]) => sideOf(runs.map((run) => [of(run), names.get(run)]));
    return compareValues(scope, side(a), side(b));
  });
  if (changes.every(({ verdict }) => verdict.startsWith('only'))) {
    throw new InputError(
      `${paths[0].join(', ')} and ${paths[1].join(', ')} have nothing in common to compare`,
    );
  }
  const told = new Set(changes.flatMap((one) => (one.scope === 'run' ? [nameOfFact(one)] : [])));
  return {
    facts: compareFacts(a, b).filter((fact) => !told.has(nameOfFact(fact))),
    changes,
    notes: [...rampNotes(a, b), ...notes],
    findings: compareFindings(
      a.map(({ findings }) => findings),
      b.map(({ findings }) => findings),
    ),
    hosts: [...(names.get(b[0]) ?? [])]
      .filter(([inB, inA]) => inA !== inB)
      .map(([inB, inA]) => ({ a: inA, b: inB })),
    suspects: [...known.values()].flatMap(({ suspects }) => suspects),
  };
}

/** How long the ramps are that are left out. */
function rampNotes(a: readonly Run[], b: readonly Run[]): string[] {
  const told = ([name, runs]: readonly [string, readonly Run[]]) => {
    const ramps = runs.map(({ ramp }) => ramp ?? 0);
    const [least, most] = [Math.min(...ramps), Math.max(...ramps)].map((ramp) => ramp.toFixed(2));
    return most === '0.00' ? [] : [`${least === most ? '' : `${least} to `}${most} s of ${name}`];
  };
  const sides = [['A', a] as const, ['B', b] as const].flatMap(told);
  return sides.length === 0
    ? []
    : [
        `Left out of rates and shares, as the runs' ramp: the first ${sides.join(', ')}. Efficiency, for one, is not that of the whole run, which sim run, report and runs tell.`,
      ];
}

const countOf = (run: Run, scope: Scope): number =>
  new Set(run.values.get(scope)?.map(({ entity }) => entity)).size;

/** Where runs have other numbers of PEs or KPs, a PE or KP of one is none of the other: it has other LPs. */
function comparable(runs: readonly Run[]) {
  const differ = (scope: Scope) =>
    new Set(runs.map((run) => countOf(run, scope)).filter((count) => count > 0)).size > 1;
  const pes = differ('pe');
  const kps = pes || differ('kp');
  const dropped = [
    ...(pes ? ['PEs'] : []),
    ...(kps && runs.some((run) => countOf(run, 'kp') > 0) ? ['KPs'] : []),
  ];
  return {
    notes:
      dropped.length === 0
        ? []
        : [
            `${dropped.join(' and ')} are not compared one by one: their numbers differ, and they hold other LPs.`,
          ],
    keeps: (scope: Scope, { entity }: NamedValue): boolean => {
      if (scope === 'pe') return pes === (entity === MEAN_PE);
      return scope !== 'kp' || !kps;
    },
  };
}

const nameOfFact = ({ key, unit }: Pick<Fact, 'key' | 'unit'>) => `${key} ${unit}`;

/** Of several runs the median of numbers, and each text once. */
function compareFacts(a: readonly Run[], b: readonly Run[]): FactChange[] {
  const all = [...a, ...b].flatMap(({ facts }) => facts);
  const about = new Map(all.map((fact) => [nameOfFact(fact), fact]));
  const of = (runs: readonly Run[], name: string): Fact['value'] | null => {
    const values = runs.flatMap(({ facts }) =>
      facts.flatMap((fact) => (nameOfFact(fact) === name ? [fact.value] : [])),
    );
    if (values.length === 0) return null;
    const numbers = values.filter((value) => typeof value === 'number');
    return numbers.length === values.length ? median(numbers) : [...new Set(values)].join(', ');
  };
  return [...about].map(([name, { key, unit }]) => ({
    ...{ key, unit, a: of(a, name), b: of(b, name) },
  }));
}

type Named = readonly NamedValue[];

/** By name, hosts called as in the first run of A: the values of each run that has it. */
function sideOf(
  runs: readonly (readonly [values: Named, hosts: ReadonlyMap<string, string> | undefined])[],
): Map<string, Named> {
  const byName = new Map<string, NamedValue[]>();
  for (const [values, hosts] of runs) {
    for (const one of values) {
      const host = one.host === null ? null : (hosts?.get(one.host) ?? one.host);
      const name = JSON.stringify([host, one.entity, one.key, one.unit]);
      byName.set(name, [...(byName.get(name) ?? []), { ...one, host }]);
    }
  }
  return byName;
}

const sideValue = (runs: Named): SideValue => ({
  value: estimateOf(runs).value,
  error: estimateOf(runs).error,
  runs: runs.map(({ value }) => value),
  course: runs[0].course,
});

/** In A's order, then what only B has. */
function compareValues(
  scope: Scope,
  a: ReadonlyMap<string, Named>,
  b: ReadonlyMap<string, Named>,
): Change[] {
  const about = ([{ host, entity, key, unit }]: Named) => ({ scope, host, entity, key, unit });
  const pairs = [...a].flatMap(([name, inA]) => {
    const inB = b.get(name);
    return inB === undefined ? [] : [{ inA, inB, gap: gapOf(estimateOf(inA), estimateOf(inB)) }];
  });
  const isSame = ({ inA, gap }: (typeof pairs)[number]) =>
    Math.abs(gap.change) <= ROUNDING * Math.abs(estimateOf(inA).value);
  const { beyond, level } = beyondChance(
    pairs.map((pair) => (isSame(pair) ? null : pair.gap.chance)),
  );
  const both = pairs.map((pair, k): Change => {
    const { inA, inB, gap } = pair;
    const same = isSame(pair);
    const different = gap.chance === null ? 'unknown' : beyond[k] ? 'changed' : 'noise';
    return {
      ...{ ...about(inA), a: sideValue(inA), b: sideValue(inB), bound: gap.bound },
      ...{ change: same ? 0 : gap.change, verdict: same ? 'same' : different },
      detectable: detectable(gap, level),
    };
  });
  const onlyA = [...a].filter(([name]) => !b.has(name)).map(([, runs]) => runs);
  const onlyB = [...b].filter(([name]) => !a.has(name)).map(([, runs]) => runs);
  return [
    ...both,
    ...onlyA.map(
      (runs): Change => ({
        ...{ ...about(runs), a: sideValue(runs), b: null, ...ONE_SIDED, verdict: 'only a' },
      }),
    ),
    ...onlyB.map(
      (runs): Change => ({
        ...{ ...about(runs), a: null, b: sideValue(runs), ...ONE_SIDED, verdict: 'only b' },
      }),
    ),
  ];
}

const ONE_SIDED = { change: null, bound: null, detectable: null } as const;

/** Differences of this share of A's number are of rounding. */
const ROUNDING = 1e-12;
