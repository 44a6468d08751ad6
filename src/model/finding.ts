/** A finding, in the form that commands, pages and the API share. */
import { counted } from './measures/text.ts';
import type { Row } from './row.ts';

/** `problem`: time is lost and something can be done; `notice`: worth knowing; `info`: neutral information. */
export const SEVERITIES = ['problem', 'notice', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Evidence {
  /** The query that shows it; for a job's metric the query for its counters as recorded, or '' if no table holds them. */
  readonly sql: string;
  /** The query's result; for a job's metric its inputs, corrected. */
  readonly rows: readonly Row[];
  /** How the number follows from the rows, if it is not one of their columns. */
  readonly formula?: string;
}

export interface Finding {
  /** Name of its rule. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with its numbers. */
  readonly sentence: string;
  readonly evidence: Evidence;
  /** The advice; '' if there is none. */
  readonly advice: string;
  /** Options of `sim run` that apply the advice, if there are any; null removes an option. */
  readonly turn?: Readonly<Record<string, number | null>>;
  /** Expected speed-up if the setting is changed: an estimate, whose basis is part of the advice. */
  readonly gain?: number;
}

/** A rule that could not be applied, and the data that it lacks. */
export interface NotExamined {
  readonly rule: string;
  readonly title: string;
  /** Tables, columns or inputs, in words: “node_cpu”, “raw stats of a job”. */
  readonly lacks: string;
  /** Whether the recording has any data of the rule's layer: then its silence does not mean that all is well. */
  readonly applies: boolean;
}

/** The result of all rules for a recording. */
export interface Verdict {
  /** Worst first. */
  readonly findings: readonly Finding[];
  readonly notExamined: readonly NotExamined[];
}

/** The sentence when no rule has found anything: all is well only if all applicable rules had their data. */
export function nothingFound({ notExamined }: Verdict): string {
  const open = notExamined.filter(({ applies }) => applies).length;
  if (open === 0) return 'Nothing stands out: no rule found anything slow or doubtful.';
  return `Nothing was found by the rules that could look; ${counted(open, 'rule')} could not.`;
}

/** “not examined: swap, high-cpi (lack raw stats of a job); …”, applicable rules first; '' if all had their data. */
export function notExaminedText(all: readonly NotExamined[]): string {
  const byLack = new Map<string, string[]>();
  for (const { rule, lacks } of [...all].sort((a, b) => Number(b.applies) - Number(a.applies))) {
    byLack.set(lacks, [...(byLack.get(lacks) ?? []), rule]);
  }
  const parts = [...byLack].map(
    ([lacks, rules]) => `${rules.join(', ')} (${rules.length === 1 ? 'lacks' : 'lack'} ${lacks})`,
  );
  return parts.length === 0 ? '' : `not examined: ${parts.join('; ')}`;
}
