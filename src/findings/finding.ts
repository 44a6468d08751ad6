/** What is slow, why, how that is known, and what to turn: a query with a sentence. */
import type { OpenRecording, Row } from '../query/index.ts';

/** `problem`: time is lost and something can be done; `notice`: worth knowing; `info`: how it went. */
export const SEVERITIES = ['problem', 'notice', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  /** Name of its rule. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with its numbers. */
  readonly sentence: string;
  /** The query that shows it, and what it gave. */
  readonly evidence: { readonly sql: string; readonly rows: readonly Row[] };
  /** What to do about it; '' where there is nothing. */
  readonly advice: string;
}

/** What a rule gives; its name is added. */
export type FindingParts = Omit<Finding, 'rule'>;

export interface FindingRule {
  /** Kebab case. */
  readonly name: string;
  readonly title: string;
  /** Tables, or columns as `table.column`, without which it has nothing to say. */
  readonly needs: readonly string[];
  run(recording: OpenRecording): Promise<readonly FindingParts[]>;
}

/** 0.123 as “12.3 %”, 0.5 as “50 %”. */
export function percent(share: number): string {
  const value = 100 * share;
  const isNear = (end: number) => value !== end && Math.abs(value - end) < 9.95;
  const digits = isNear(0) || isNear(100) ? 1 : 0;
  return `${value.toFixed(digits).replace(/\.0$/, '')} %`;
}

/** 1234567 as “1,234,567”. */
export const whole = (count: number): string => Math.round(count).toLocaleString('en-US');

/** “PE 1”, “PEs 1 and 2”, “PEs 1, 2 and 5”. */
export function pes(ids: readonly number[]): string {
  if (ids.length === 1) return `PE ${ids[0]}`;
  return `PEs ${ids.slice(0, -1).join(', ')} and ${ids[ids.length - 1]}`;
}
