/** What is slow or doubtful, as everybody tells it: commands, pages, the API. */
import { counted } from './measures/text.ts';
import type { Row } from './row.ts';

/** `problem`: time is lost and something can be done; `notice`: worth knowing; `info`: how it went. */
export const SEVERITIES = ['problem', 'notice', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Evidence {
  /** The query that shows it; of a job's metric the query for its counters as recorded, or '' where no table holds them. */
  readonly sql: string;
  /** What the query gave; of a job's metric its inputs, repaired. */
  readonly rows: readonly Row[];
  /** How the number follows from the rows, where it is no column of them. */
  readonly formula?: string;
}

export interface Finding {
  /** Name of its rule. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with its numbers. */
  readonly sentence: string;
  readonly evidence: Evidence;
  /** What to do about it; '' where there is nothing. */
  readonly advice: string;
  /** Options of `sim run` that do it, where the knob is one of these; null: left out. */
  readonly turn?: Readonly<Record<string, number | null>>;
  /** How many times as fast the run may be with the knob turned: an estimate, whose reason is part of the advice. */
  readonly gain?: number;
}

/** A rule that could not look, and what it lacks. */
export interface NotExamined {
  readonly rule: string;
  readonly title: string;
  /** Tables, columns or inputs, for people: “node_cpu”, “raw stats of a job”. */
  readonly lacks: string;
  /** Whether the recording has anything of the layer that the rule is about: then its silence is no acquittal. */
  readonly applies: boolean;
}

/** All that the rules say of a recording. */
export interface Verdict {
  /** Worst first. */
  readonly findings: readonly Finding[];
  readonly notExamined: readonly NotExamined[];
}

/** What is said where no rule has found anything: that all is well only where all that apply could look. */
export function nothingFound({ notExamined }: Verdict): string {
  const open = notExamined.filter(({ applies }) => applies).length;
  if (open === 0) return 'Nothing stands out: no rule found anything slow or doubtful.';
  return `Nothing was found by the rules that could look; ${counted(open, 'rule')} could not.`;
}

/** “not examined: swap, high-cpi (lack raw stats of a job); …”, those that apply first; '' where all could look. */
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
