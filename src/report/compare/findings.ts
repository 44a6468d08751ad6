/** Findings that only one of two recordings has, and those whose weight changed. */
import { type Finding, SEVERITIES, type Severity } from '../../findings/index.ts';

export interface FindingChange {
  readonly rule: string;
  /** `gained`: B has it and A has not; `lost`: the other way round; `worse`, `better`: both, of another severity. */
  readonly what: 'gained' | 'lost' | 'worse' | 'better' | 'both';
  /** The worst finding of the rule; null where it has none. */
  readonly a: { readonly severity: Severity; readonly sentence: string } | null;
  readonly b: { readonly severity: Severity; readonly sentence: string } | null;
}

const rank = ({ severity }: { readonly severity: Severity }) => SEVERITIES.indexOf(severity);

/** The worst finding of each rule. Findings of severity `info` are neither gained nor lost. */
function worst(findings: readonly Finding[]): Map<string, Finding> {
  const found = new Map<string, Finding>();
  for (const finding of findings) {
    if (finding.severity === 'info') continue;
    const before = found.get(finding.rule);
    if (before === undefined || rank(finding) < rank(before)) found.set(finding.rule, finding);
  }
  return found;
}

function whatOf(a: Finding | undefined, b: Finding | undefined): FindingChange['what'] {
  if (a === undefined) return 'gained';
  if (b === undefined) return 'lost';
  if (rank(a) === rank(b)) return 'both';
  return rank(b) < rank(a) ? 'worse' : 'better';
}

/** The worst finding of each rule that more than half of the runs have. */
function usual(runs: readonly (readonly Finding[])[]): Map<string, Finding> {
  const all = runs.map(worst);
  return new Map(
    [...worst(runs.flat())].filter(
      ([rule]) => 2 * all.filter((one) => one.has(rule)).length > runs.length,
    ),
  );
}

const ORDER: readonly FindingChange['what'][] = ['gained', 'worse', 'better', 'lost', 'both'];

/** Findings of the runs of two sides. Gained ones first. */
export function compareFindings(
  a: readonly (readonly Finding[])[],
  b: readonly (readonly Finding[])[],
): readonly FindingChange[] {
  const [inA, inB] = [usual(a), usual(b)];
  const side = (one: Finding | undefined) =>
    one === undefined ? null : { severity: one.severity, sentence: one.sentence };
  return [...new Set([...inA.keys(), ...inB.keys()])]
    .map((rule) => {
      const [one, other] = [inA.get(rule), inB.get(rule)];
      return { rule, what: whatOf(one, other), a: side(one), b: side(other) };
    })
    .sort((x, y) => ORDER.indexOf(x.what) - ORDER.indexOf(y.what));
}
