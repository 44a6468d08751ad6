/** Takes one sample into a log: what `begin`, `end`, `collect`, `mark` and `rotate` do. */
import { type JobSources, jobsIn, jobsNow } from './jobs.ts';
import type { NodeLog } from './log/log.ts';
import { endMissed } from './missed-ends.ts';
import type { Programming } from './programming.ts';
import type { Sampling } from './sampling.ts';
import type { Absent } from './types/open-types.ts';

/** Whether `begin` programs counters; `end` of the last job restores them. */
export interface CounterUse {
  /** Whether counters are programmed. */
  readonly program: boolean;
  /** What writes the control registers, and restores them. */
  readonly programming: Programming;
}

/** Why a group is taken: a job begins or ends, a sample is due, a mark is set, or a new file begins. */
export type Occasion =
  /** `only`: no other job runs here any more, even if the list says so: such a job's end was missed. */
  | { readonly kind: 'begin' | 'end'; readonly job: string; readonly only?: boolean }
  | { readonly kind: 'collect'; readonly mark?: string }
  | { readonly kind: 'rotate' };

/** The mark that an occasion leaves. */
export function markOf(occasion: Occasion): string | undefined {
  if (occasion.kind === 'collect') return occasion.mark;
  return occasion.kind === 'rotate' ? 'rotate -' : `${occasion.kind} ${occasion.job}`;
}

/** The jobs in an occasion's group: those that run, and the one that begins or ends. */
export function jobsOf(occasion: Occasion, { list, file }: JobSources): string[] {
  const jobs = jobsNow(list, jobsIn(file));
  const named = 'job' in occasion && occasion.job !== '-' ? occasion.job : null;
  return named === null || jobs.includes(named) ? jobs : [...jobs, named];
}

/**
 * Collects a group and appends it; keeps the list of jobs. `jobs`: ids for the group's line, or null to look them
 * up. `failed` is called for types that could not be read.
 * @throws LogError
 * @example
 * ```ts
 * import { JOBID_FILE, JobList, NodeLog, Programming, recordOnce, Sampling } from 'triscope/node';
 *
 * const log = new NodeLog('log');
 * const sampling = new Sampling({});
 * recordOnce(
 *   log,
 *   sampling,
 *   { list: new JobList('log/jobs'), file: JOBID_FILE },
 *   { kind: 'begin', job: '4001' },
 *   null, // the jobs' ids are looked up
 *   ({ type, reason }) => console.error(`${type}: ${reason}`),
 *   { program: false, programming: new Programming('log/registers', console.error) },
 * );
 * sampling.close();
 * ```
 */
export function recordOnce(
  log: NodeLog,
  sampling: Sampling,
  sources: JobSources,
  occasion: Occasion,
  jobs: readonly string[] | null,
  failed: (absent: Absent) => void,
  pmc: CounterUse,
): void {
  const named = 'job' in occasion && occasion.job !== '-' ? occasion.job : null;
  log.locked(() => {
    if (occasion.kind === 'begin' && named !== null) {
      sources.list?.add(named, occasion.only);
    }
    const { tree, types } = sampling.collection;
    if (occasion.kind !== 'end') endMissed(sources, tree);
    try {
      if (occasion.kind === 'rotate') log.rotate();
      if (occasion.kind === 'begin') {
        if (pmc.program) pmc.programming.begin(tree, types);
        else pmc.programming.arm(tree, types);
      }
      const ids = jobs ?? jobsOf(occasion, sources);
      log.append(sampling.head, sampling.take(ids, markOf(occasion), failed));
    } finally {
      if (occasion.kind === 'end') {
        if (named !== null) sources.list?.remove(named);
        if ((sources.list?.read() ?? []).length === 0) pmc.programming.end(tree);
      }
    }
  });
}
