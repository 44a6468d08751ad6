/** Findings: what is slow in a recording, why, and what to turn. See docs/findings.md. */
import type { OpenRecording } from '../query/index.ts';
import {
  type Finding,
  type FindingParts,
  type FindingRule,
  SEVERITIES,
  type Subject,
} from './finding.ts';
import { type MeasuredJob, measuredJobs } from './measured-jobs.ts';
import { FINDINGS } from './rules.ts';

export type { Evidence, Finding, FindingRule, Severity, Threshold } from './finding.ts';
export { SEVERITIES } from './finding.ts';
export { FINDINGS } from './rules.ts';

export interface FindOptions {
  readonly rules?: readonly FindingRule[];
  /** Folder of the recording: rules about jobs read its raw stats files. Not given: they have nothing to say. */
  readonly path?: string;
}

/** Runs the rules that have their tables. Worst first. */
export async function findAll(
  recording: OpenRecording,
  { rules = FINDINGS, path }: FindOptions = {},
): Promise<Finding[]> {
  const columns = await recording.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column"
      FROM information_schema.columns WHERE table_schema = 'main'`,
  );
  const there = new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]));
  let jobs: Promise<readonly MeasuredJob[]> | null = null;
  const subject: Subject = {
    recording,
    has: (name) => there.has(name),
    jobs: () => {
      jobs ??= path === undefined ? Promise.resolve([]) : measuredJobs(path);
      return jobs;
    },
  };
  const found: Finding[] = [];
  for (const rule of rules) {
    if (!rule.needs.every(subject.has)) continue;
    for (const parts of await judge(rule, subject)) found.push({ rule: rule.name, ...parts });
  }
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** What a rule says. One that cannot read a table, as of a damaged file, does not keep the others from speaking. */
async function judge(rule: FindingRule, subject: Subject): Promise<readonly FindingParts[]> {
  try {
    return await rule.run(subject);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'QueryError') throw error;
    const sentence = `Rule ${rule.name} could not look: ${error.message.replace(/\.$/, '')}.`;
    return [{ severity: 'notice', sentence, evidence: { sql: '', rows: [] }, advice: '' }];
  }
}
