/**
 * Findings: what is slow in a recording, why, and which setting to change. See docs/findings.md.
 */
import { askedOnce } from '../query/asked-once.ts';
import { endedBy } from '../query/ended-by.ts';
import type { OpenRecording } from '../query/index.ts';
import {
  type Finding,
  type FindingParts,
  type FindingRule,
  type Lacks,
  type NotExamined,
  SEVERITIES,
  type Severity,
  type Subject,
  type Verdict,
} from './finding.ts';
import type { Job, MetricValue } from './job/index.ts';
import { type MeasuredJob, measuredJob, measuredJobs } from './measured-jobs.ts';
import { FINDINGS, JOB_RULES, RULE_GROUPS } from './rules.ts';

export type {
  Evidence,
  Finding,
  FindingRule,
  NotExamined,
  Severity,
  Threshold,
  Verdict,
} from './finding.ts';
export { notExaminedText, nothingFound, SEVERITIES } from './finding.ts';
export { FINDINGS } from './rules.ts';

interface FindOptions {
  readonly rules?: readonly FindingRule[];
  /** Folder of the recording: rules about jobs read its raw stats files. Without it, they find nothing. */
  readonly path?: string;
  /** Aborts the examination, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Runs all rules; returns the findings, and the rules that could not be examined. */
export async function examine(
  opened: OpenRecording,
  { rules = FINDINGS, path, signal }: FindOptions = {},
): Promise<Verdict> {
  // Rules ask the same of a run, such as how much it undid.
  const recording = askedOnce(signal === undefined ? opened : endedBy(opened, signal));
  const columns = await recording.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column"
      FROM information_schema.columns WHERE table_schema = 'main'`,
  );
  const there = new Set(columns.flatMap(({ table, column }) => [table, `${table}.${column}`]));
  const tables = [...new Set(columns.map(({ table }) => table))];
  let jobs: Promise<readonly MeasuredJob[]> | null = null;
  const subject: Subject = {
    recording,
    has: (name) => there.has(name),
    jobs: () => {
      jobs ??= path === undefined ? Promise.resolve([]) : measuredJobs(path, signal);
      return jobs;
    },
  };
  const findings: Finding[] = [];
  const notExamined: NotExamined[] = [];
  for (const rule of rules) {
    signal?.throwIfAborted();
    const { name, title } = rule;
    const missing = rule.needs.filter((need) => !subject.has(need));
    const said = missing.length > 0 ? { lacks: missing.join(', ') } : await judge(rule, subject);
    if ('lacks' in said) {
      const of = RULE_GROUPS.find((group) => group.rules.includes(rule))?.tables;
      const applies = of !== undefined && tables.some((table) => of.test(table));
      notExamined.push({ rule: name, title, lacks: said.lacks, applies });
    } else for (const parts of said) findings.push({ rule: name, ...parts });
  }
  const wall = await secondsOf(subject);
  const weighed = findings.map((one) => (isWorthIt(one, wall) ? one : { ...one, severity: INFO }));
  return { findings: worstFirst(settled(weighed, rules)), notExamined };
}

const INFO: Severity = 'info';
/** A finding has to be about at least this many seconds of a simulation: compiling and starting take about as long. */
const LEAST_LOST_SECONDS = 0.05;

/**
 * Seconds of the recorded simulation; null if they were not recorded, or there are several simulations.
 */
async function secondsOf({ recording, has }: Subject): Promise<number | null> {
  if (!has('sim_run.wall')) return null;
  const rows = await recording.query<{ wall: number }>('SELECT wall FROM sim_run');
  return rows.length === 1 ? rows[0].wall : null;
}

/** Whether the possible gain is large enough for more than an info. */
const isWorthIt = ({ gain }: Finding, wall: number | null): boolean =>
  wall === null || gain === undefined || wall * (1 - 1 / gain) >= LEAST_LOST_SECONDS;

/**
 * The findings on one job of those rules about jobs that read nothing but its records.
 * @param metrics the job's metrics, if they are known already
 * @param next is awaited before each rule, so that other work can run
 */
export async function examineJob(
  job: Job,
  metrics?: readonly MetricValue[],
  next: () => Promise<void> = async () => {},
): Promise<Verdict> {
  const measured = measuredJob(job, metrics);
  const subject = { has: () => false, jobs: async () => [measured] };
  const findings: Finding[] = [];
  const notExamined: NotExamined[] = [];
  for (const rule of JOB_RULES) {
    await next();
    const { name, title } = rule;
    const said = await rule.run(subject);
    if ('lacks' in said) notExamined.push({ rule: name, title, lacks: said.lacks, applies: true });
    else for (const parts of said) findings.push({ rule: name, ...parts });
  }
  return { findings: worstFirst(findings), notExamined };
}

const rank = (severity: Severity) => SEVERITIES.indexOf(severity);
/** A finding that follows from another, and is not more severe than it, becomes a notice. */
function settled(found: readonly Finding[], rules: readonly FindingRule[]): Finding[] {
  const explained = new Set<Finding>();
  for (const cause of found) {
    const explains = rules.find(({ name }) => name === cause.rule)?.explains ?? [];
    if (cause.severity === 'info' || explained.has(cause)) continue;
    for (const one of found) {
      const isWorse = rank(one.severity) < rank(cause.severity);
      if (one.severity !== 'info' && !isWorse && explains.includes(one.rule)) explained.add(one);
    }
  }
  return found.map((one) => (explained.has(one) ? { ...one, severity: 'notice' } : one));
}

/** Findings of one severity that another finding explains come last. */
const worstFirst = (found: readonly Finding[]): Finding[] =>
  [...found].sort((a, b) => rank(a.severity) - rank(b.severity));

/** The same as `examine`, without the rules that could not be examined. */
export const findAll = async (
  recording: OpenRecording,
  options: FindOptions = {},
): Promise<Finding[]> => [...(await examine(recording, options)).findings];

/**
 * The findings of a rule. If a rule cannot read a table, such as that of a damaged file, the other rules still run.
 */
async function judge(
  rule: FindingRule,
  subject: Subject,
): Promise<readonly FindingParts[] | Lacks> {
  try {
    return await rule.run(subject);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'QueryError') throw error;
    const sentence = `Rule ${rule.name} could not be examined: ${error.message.replace(/\.$/, '')}.`;
    return [{ severity: 'notice', sentence, evidence: { sql: '', rows: [] }, advice: '' }];
  }
}
