/** What is slow, why, how that is known, and what to turn: a query with a sentence. */
import { percent as percentText } from '../model/measures/index.ts';
import type { OpenRecording, Row } from '../query/index.ts';
import type { MeasuredJob } from './measured-jobs.ts';

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
}

/** What a rule gives; its name is added. */
export type FindingParts = Omit<Finding, 'rule'>;

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

/** What a rule gives in place of findings where it could not look. */
export interface Lacks {
  readonly lacks: string;
}

/** A number from which on a rule says something, and why that number. */
export interface Threshold {
  readonly value: number;
  /** `share` (0.1 is 10 %), a unit, or '' for a bare number. */
  readonly unit: string;
  /** Completes “from … on:”. */
  readonly means: string;
  /** Where it is from. */
  readonly source: string;
}

/** What a rule may look at. */
export interface Subject {
  readonly recording: OpenRecording;
  /** Whether there is a table, or a column `table.column`. */
  has(name: string): boolean;
  /** Jobs of its raw stats files with their metrics; none where it has no such files. Read once, when first asked for. */
  jobs(): Promise<readonly MeasuredJob[]>;
}

/** What a rule about jobs may look at. */
export type JobSubject = Pick<Subject, 'has' | 'jobs'>;

export interface FindingRule {
  /** Kebab case. */
  readonly name: string;
  readonly title: string;
  /** How it is told: one or two sentences for the docs. */
  readonly looks: string;
  /** Tables, or columns as `table.column`, without which it has nothing to say. */
  readonly needs: readonly string[];
  readonly thresholds: Readonly<Record<string, Threshold>>;
  /** What to turn. */
  readonly knob: string;
  run(subject: Subject): Promise<readonly FindingParts[] | Lacks>;
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

/** The source of a threshold that no other system states. */
export const OWN = 'ours';

/** `problem` from `bad` on, `notice` from `some` on; null below. */
export function graded(value: number, some: Threshold, bad: Threshold): Severity | null {
  if (value >= bad.value) return 'problem';
  return value >= some.value ? 'notice' : null;
}

/** A share as per cent: 0.123 as “12 %”. */
export const percent = (share: number): string => percentText(100 * share);

/** 1234567 as “1,234,567”. */
export const whole = (count: number): string => Math.round(count).toLocaleString('en-US');

/** 1.23456 as “1.23”, 1234.5 as “1,235”. */
export const short = (value: number): string =>
  Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(3)));

/** “1 event”, “2 events”. */
export const counted = (count: number, noun: string): string =>
  `${whole(count)} ${noun}${Math.round(count) === 1 ? '' : 's'}`;

/** “PE 1”, “PEs 1 and 2”, “PEs 1, 2 and 5”. */
export function pes(ids: readonly number[]): string {
  if (ids.length === 1) return `PE ${ids[0]}`;
  return `PEs ${ids.slice(0, -1).join(', ')} and ${ids[ids.length - 1]}`;
}

/** Rows of a known shape as a finding keeps them. */
export const asRows = (rows: readonly object[]): readonly Row[] => rows as readonly Row[];
