/** Finds the accounting entry of a listed job. */
import { SKEW_SECONDS } from '../../model/clock-skew.ts';
import type { AccountedJob } from './accounting.ts';
import type { ListedJob } from './job-list.ts';

export type AccountedJobs = ReadonlyMap<string, readonly AccountedJob[]>;

/** Entries by job id; entries with the same id are in the order of their file. */
export function accountedById(jobs: readonly AccountedJob[]): AccountedJobs {
  const byId = new Map<string, AccountedJob[]>();
  for (const job of jobs) {
    const same = byId.get(job.id);
    if (same === undefined) byId.set(job.id, [job]);
    else same.push(job);
  }
  return byId;
}

/** The last entry with the same id whose time overlaps the listed job's. */
export function accountedFor(
  jobs: AccountedJobs,
  { id, first, last }: ListedJob,
): AccountedJob | null {
  return (
    jobs
      .get(id)
      ?.findLast(
        ({ started, ended }) =>
          (started ?? Number.NEGATIVE_INFINITY) <= last + SKEW_SECONDS &&
          (ended ?? Number.POSITIVE_INFINITY) >= first - SKEW_SECONDS,
      ) ?? null
  );
}
