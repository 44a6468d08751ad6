/** Findings: what is slow, why, the evidence, and which setting to change. */

import {
  type Evidence,
  type Finding,
  type NotExamined,
  notExaminedText,
  nothingFound,
  SEVERITIES,
  type Severity,
  type Verdict,
} from '../model/finding.ts';
import { counted, shareText as percent, whole } from '../model/measures/index.ts';
import type { OpenRecording, Row } from '../query/index.ts';
import type { MeasuredJob } from './measured-jobs.ts';

export {
  counted,
  type Evidence,
  type Finding,
  type NotExamined,
  notExaminedText,
  nothingFound,
  percent,
  SEVERITIES,
  type Severity,
  type Verdict,
  whole,
};

/** What a rule returns; `examine` adds the rule's name. */
export type FindingParts = Omit<Finding, 'rule'>;

/** What a rule returns instead of findings if it could not be examined. */
export interface Lacks {
  readonly lacks: string;
}

/** The value from which on a rule fires, and the source of that value. */
export interface Threshold {
  readonly value: number;
  /** `share` (0.1 is 10 %), a unit, or '' for a bare number. */
  readonly unit: string;
  /** Completes “from … on:”. */
  readonly means: string;
  /** Where the value comes from. */
  readonly source: string;
}

/** What a rule may read. */
export interface Subject {
  readonly recording: OpenRecording;
  /** Whether the recording has a table, or a column `table.column`. */
  has(name: string): boolean;
  /** Jobs of the recording's raw stats files with their metrics; empty if it has no such files. Read once, when first asked for. */
  jobs(): Promise<readonly MeasuredJob[]>;
}

/** What a rule about jobs may read. */
export type JobSubject = Pick<Subject, 'has' | 'jobs'>;

export interface FindingRule {
  /** Kebab case. */
  readonly name: string;
  readonly title: string;
  /** How the rule works: one or two sentences for the docs. */
  readonly looks: string;
  /** Tables, or columns as `table.column`, that the rule cannot do without. */
  readonly needs: readonly string[];
  readonly thresholds: Readonly<Record<string, Threshold>>;
  /** The setting to change. */
  readonly knob: string;
  /** Rules whose findings are consequences of this one's: they are listed after it, as notices. */
  readonly explains?: readonly string[];
  run(subject: Subject): Promise<readonly FindingParts[] | Lacks>;
}

/** The source of a threshold that no other system defines. */
export const OWN = 'ours';

/** `problem` from `bad` on, `notice` from `some` on; null below. */
export function graded(value: number, some: Threshold, bad: Threshold): Severity | null {
  if (value >= bad.value) return 'problem';
  return value >= some.value ? 'notice' : null;
}

/**
 * How much changing a setting should gain, for use after the advice.
 * @param share of the run's time that is lost to the cause
 * @param why completes “as much of the time …”
 */
export function expecting(
  advice: string,
  share: number,
  why: string,
): Pick<FindingParts, 'advice' | 'gain'> {
  const gain = 1 / (1 - Math.min(0.95, Math.max(0, share)));
  return { advice: `${advice} Up to ${short(gain)} times as fast: ${why}.`, gain };
}

/** `advice` for which no gain follows from a recording, and why. */
export const unforeseen = (advice: string, why: string): Pick<FindingParts, 'advice'> => ({
  advice: `${advice} How much faster that is cannot be told: ${why}.`,
});

/** 1.23456 as “1.23”, 1234.5 as “1,235”. */
export const short = (value: number): string =>
  Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(3)));

/** “PE 1”, “PEs 1 and 2”, “PEs 1, 2 and 5”. */
export function pes(ids: readonly number[]): string {
  if (ids.length === 1) return `PE ${ids[0]}`;
  return `PEs ${ids.slice(0, -1).join(', ')} and ${ids[ids.length - 1]}`;
}

/** Rows of a known shape as evidence. */
export const asRows = (rows: readonly object[]): readonly Row[] => rows as readonly Row[];
