/** Compares two recordings: what changed by more than the scatter of their samples. See docs/diff.md. */
import { median } from '../../model/numbers.ts';
import { InputError, type Suspect } from '../../query/index.ts';
import { type Explanation, explain } from './causes/explain.ts';
import type { Fact } from './facts.ts';
import { compareFindings, type FindingChange } from './findings.ts';
import { pairHosts } from './hosts.ts';
import type { ComparedRun, CompareOptions } from './run.ts';
import { readRuns } from './runs.ts';
import { SCOPES, type Scope } from './scope.ts';
import { compareSettings, type SettingChange, unlikeness } from './settings.ts';
import { MEAN_PE } from './simulator.ts';
import { type Change, compareValues, type NamedValue, type Side } from './values.ts';

export type { Explanation, TimeCause } from './causes/explain.ts';
export type { FindingChange } from './findings.ts';
export { OF_SETTINGS, type SettingChange } from './settings.ts';
export type { Change, ChangeVerdict } from './values.ts';
export { SCOPES, type Scope };

export interface FactChange {
  readonly key: string;
  readonly unit: string;
  readonly a: Fact['value'] | null;
  readonly b: Fact['value'] | null;
}

export interface Comparison {
  /** What A and B were asked to do, with what, and where: only what differs. */
  readonly settings: readonly SettingChange[];
  /** Why neither side is called better, a sentence each: the runs did different work. */
  readonly unlike: readonly string[];
  /** Why B took longer or less long; null where that was not recorded of both. */
  readonly explanation: Explanation | null;
  readonly facts: readonly FactChange[];
  readonly changes: readonly Change[];
  readonly findings: readonly FindingChange[];
  /** Hosts of B that were paired with hosts of A by another name. */
  readonly hosts: readonly { readonly a: string; readonly b: string }[];
  /** What was not compared, and why. */
  readonly notes: readonly string[];
  readonly suspects: readonly Suspect[];
}

/**
 * Runs of one setting beside runs of another.
 * @param pathsA one or more recordings of A; repetitions tell how much runs of one setting differ
 * @throws InputError, QueryError, MissingPieceError, MemoryLimitError; the signal's reason
 */
export async function compareRecordings(
  pathsA: string | readonly string[],
  pathsB: string | readonly string[],
  options: CompareOptions = {},
): Promise<Comparison> {
  const paths = [pathsA, pathsB].map((one) => (typeof one === 'string' ? [one] : one));
  const known = await readRuns(paths.flat(), options);
  const [a, b] = paths.map((side) => side.map((path) => known.get(path) as ComparedRun));
  const first = a[0];
  const names = new Map([...a, ...b].map((run) => [run, pairHosts(first.hosts, run.hosts)]));
  const { notes, keeps } = comparable([...a, ...b]);
  const changes = SCOPES.flatMap((scope) => {
    const of = (run: ComparedRun) =>
      (run.values.get(scope) ?? []).filter((one) => keeps(scope, one));
    const side = (runs: readonly ComparedRun[]): Side =>
      runs.map((run) => [of(run), names.get(run)]);
    return compareValues(scope, side(a), side(b));
  });
  if (changes.every(({ verdict }) => verdict.startsWith('only'))) {
    throw new InputError(
      `${paths[0].join(', ')} and ${paths[1].join(', ')} have nothing in common to compare`,
    );
  }
  const told = new Set(changes.flatMap((one) => (one.scope === 'run' ? [nameOfFact(one)] : [])));
  const settings = compareSettings(
    a.map((run) => run.settings),
    b.map((run) => run.settings),
  );
  const unlike = unlikeness(settings);
  const timesOf = (runs: readonly ComparedRun[]) => runs.flatMap(({ times }) => times ?? []);
  return {
    settings,
    unlike,
    explanation: explain(timesOf(a), timesOf(b)),
    facts: compareFacts(a, b).filter((fact) => !told.has(nameOfFact(fact))),
    // Runs that did different work are neither better nor worse.
    changes: unlike.length === 0 ? changes : changes.map((one) => ({ ...one, judgement: null })),
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

/** States the lengths of the ramps that are left out. */
function rampNotes(a: readonly ComparedRun[], b: readonly ComparedRun[]): string[] {
  const told = ([name, runs]: readonly [string, readonly ComparedRun[]]) => {
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

const countOf = (run: ComparedRun, scope: Scope): number =>
  new Set(run.values.get(scope)?.map(({ entity }) => entity)).size;

/** Runs with different numbers of PEs or KPs are not compared by PE or KP, which hold different LPs. */
function comparable(runs: readonly ComparedRun[]) {
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
function compareFacts(a: readonly ComparedRun[], b: readonly ComparedRun[]): FactChange[] {
  const all = [...a, ...b].flatMap(({ facts }) => facts);
  const about = new Map(all.map((fact) => [nameOfFact(fact), fact]));
  const of = (runs: readonly ComparedRun[], name: string): Fact['value'] | null => {
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
