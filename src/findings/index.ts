/** Findings: what is slow in a recording, why, and what to turn. */
import type { OpenRecording } from '../query/index.ts';
import { EFFICIENCY } from './efficiency.ts';
import { type Finding, type FindingRule, SEVERITIES } from './finding.ts';
import { STOLEN_CPU } from './stolen-cpu.ts';

export type { Finding, FindingRule, Severity } from './finding.ts';

/** A new finding is a file and a line here. */
export const FINDINGS: readonly FindingRule[] = [STOLEN_CPU, EFFICIENCY];

/** Runs the rules that have their tables. Worst first. @throws QueryError */
export async function findAll(
  recording: OpenRecording,
  rules: readonly FindingRule[] = FINDINGS,
): Promise<Finding[]> {
  const columns = await recording.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column"
      FROM information_schema.columns WHERE table_schema = 'main'`,
  );
  const there = new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]));
  const found: Finding[] = [];
  for (const rule of rules) {
    if (!rule.needs.every((need) => there.has(need))) continue;
    for (const parts of await rule.run(recording)) found.push({ rule: rule.name, ...parts });
  }
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return found.sort((a, b) => rank(a) - rank(b));
}
