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
import { beyondChance, gapOf } from './noise.ts';
import { regionTotals, visitSamples } from './regions.ts';
import { SCOPES, type Scope } from './scope.ts';
import { MEAN_PE, simulatorSamples } from './simulator.ts';

export type { FindingChange } from './findings.ts';
export { SCOPES, type Scope };

/**
 * `same`: not a digit differs; `noise`: they differ by no more than chance explains; `changed`: by more; `unknown`: they
 * differ, and nothing tells how much chance explains.
 */
export type Verdict = 'same' | 'noise' | 'changed' | 'unknown' | 'only a' | 'only b';

interface SideValue {
  readonly value: number;
  readonly error: number | null;
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

interface Side {
  readonly facts: readonly Fact[];
  readonly hosts: readonly string[];
  readonly values: ReadonlyMap<Scope, readonly Measured[]>;
  readonly findings: readonly Finding[];
  readonly suspects: readonly Suspect[];
}

async function sideOf(path: string, signal?: AbortSignal): Promise<Side> {
  const opened = await openRecording(path);
  const recording = signal === undefined ? opened : endedBy(opened, signal);
  try {
    const has = await hasOf(recording);
    const values = new Map<Scope, Measured[]>(SCOPES.map((scope) => [scope, []]));
    const all = [
      ...simulatorSamples(has),
      ...visitSamples(has),
      ...(await nodeSamples(recording, has)),
    ];
    values.get('region')?.push(...(await regionTotals(recording, has)));
    for (const samples of all) {
      values.get(samples.scope)?.push(...(await measured(recording, samples)));
    }
    const hosts = await hostsOf(recording, has);
    return {
      facts: await factsOf(recording, path, hosts),
      hosts,
      values,
      findings: await findAll(recording, { path, ...(signal && { signal }) }),
      suspects: recording.suspects,
    };
  } finally {
    await recording.close();
  }
}

/** @throws InputError, QueryError, MissingPieceError; the signal's reason */
export async function compareRecordings(
  pathA: string,
  pathB: string,
  signal?: AbortSignal,
): Promise<Comparison> {
  const first = sideOf(pathA, signal);
  // Beside itself a recording is read once.
  const [a, b] = await Promise.all([first, pathA === pathB ? first : sideOf(pathB, signal)]);
  const names = pairHosts(a.hosts, b.hosts);
  const { notes, keeps } = comparable(a, b);
  const changes = SCOPES.flatMap((scope) => {
    const of = (side: Side) => (side.values.get(scope) ?? []).filter((one) => keeps(scope, one));
    return compareValues(scope, of(a), of(b), names);
  });
  if (changes.every(({ verdict }) => verdict.startsWith('only'))) {
    throw new InputError(`${pathA} and ${pathB} have nothing in common that could be compared`);
  }
  return {
    facts: compareFacts(a.facts, b.facts),
    changes,
    notes,
    findings: compareFindings(a.findings, b.findings),
    hosts: [...names].filter(([inB, inA]) => inA !== inB).map(([inB, inA]) => ({ a: inA, b: inB })),
    suspects: pathA === pathB ? a.suspects : [...a.suspects, ...b.suspects],
  };
}

const countOf = (side: Side, scope: Scope): number =>
  new Set(side.values.get(scope)?.map(({ entity }) => entity)).size;

/** Where runs have other numbers of PEs or KPs, a PE or KP of one is none of the other: it has other LPs. */
function comparable(a: Side, b: Side) {
  const differ = (scope: Scope) => {
    const [inA, inB] = [countOf(a, scope), countOf(b, scope)];
    return inA > 0 && inB > 0 && inA !== inB;
  };
  const pes = differ('pe');
  const kps = pes || differ('kp');
  const dropped = [...(pes ? ['PEs'] : []), ...(kps && countOf(a, 'kp') > 0 ? ['KPs'] : [])];
  return {
    notes:
      dropped.length === 0
        ? []
        : [
            `${dropped.join(' and ')} are not compared one by one: their numbers differ, and they hold other LPs.`,
          ],
    keeps: (scope: Scope, { entity }: Measured): boolean => {
      if (scope === 'pe') return pes === (entity === MEAN_PE);
      return scope !== 'kp' || !kps;
    },
  };
}

function compareFacts(a: readonly Fact[], b: readonly Fact[]): FactChange[] {
  const nameOf = ({ key, unit }: Fact) => `${key} ${unit}`;
  const inB = new Map(b.map((fact) => [nameOf(fact), fact]));
  const inA = new Set(a.map(nameOf));
  return [
    ...a.map((fact) => ({ ...fact, a: fact.value, b: inB.get(nameOf(fact))?.value ?? null })),
    ...b
      .filter((fact) => !inA.has(nameOf(fact)))
      .map((fact) => ({ ...fact, a: null, b: fact.value })),
  ].map(({ key, unit, a: one, b: other }) => ({ key, unit, a: one, b: other }));
}

const sideValue = ({ value, error, course }: Measured): SideValue => ({ value, error, course });

/** In A's order, then what only B has. */
function compareValues(
  scope: Scope,
  a: readonly Measured[],
  b: readonly Measured[],
  names: ReadonlyMap<string, string>,
): Change[] {
  const hostInA = (host: string | null) => (host === null ? null : (names.get(host) ?? host));
  const nameOf = ({ entity, key, unit }: Measured, host: string | null) =>
    JSON.stringify([host, entity, key, unit]);
  const inB = new Map(b.map((one) => [nameOf(one, hostInA(one.host)), one]));
  const rows: Change[] = [];
  const chances: (number | null)[] = [];
  for (const one of a) {
    const name = nameOf(one, one.host);
    const other = inB.get(name);
    inB.delete(name);
    const about = { scope, host: one.host, entity: one.entity, key: one.key, unit: one.unit };
    if (other === undefined) {
      rows.push({ ...about, a: sideValue(one), ...ONE_SIDED, b: null, verdict: 'only a' });
      chances.push(null);
      continue;
    }
    const gap = gapOf(one, other);
    const { bound, chance } = gap;
    const isSame = Math.abs(gap.change) <= ROUNDING * Math.abs(one.value);
    const change = isSame ? 0 : gap.change;
    const verdict = isSame ? 'same' : chance === null ? 'unknown' : 'noise';
    rows.push({ ...about, a: sideValue(one), b: sideValue(other), change, bound, verdict });
    chances.push(verdict === 'noise' ? chance : null);
  }
  const beyond = beyondChance(chances);
  const judged = rows.map((row, k): Change => (beyond[k] ? { ...row, verdict: 'changed' } : row));
  const more = [...inB.values()].map(
    (one): Change => ({
      ...{ scope, host: hostInA(one.host), entity: one.entity, key: one.key, unit: one.unit },
      ...{ a: null, b: sideValue(one), ...ONE_SIDED, verdict: 'only b' },
    }),
  );
  return [...judged, ...more];
}

/** Sums of the same numbers in another order differ by less. */
const ROUNDING = 1e-9;

const ONE_SIDED = { change: null, bound: null };
