/**
 * Finds jobs of the list that ended without an `end`, for example because an epilog was missed: those that Slurm no longer runs, if its
 * control groups show which jobs it runs, and those that began too long ago. Their last sample has no end mark: it is
 * not known when they ended.
 */
import { DAY_MS } from '../model/units.ts';
import type { JobSources } from './jobs.ts';
import { slurmJobs } from './slurm.ts';
import type { NodeTree } from './tree.ts';

/** Milliseconds that Slurm gets, after a job's begin, to make the job's control group: prologs run before. */
const GRACE_MS = 600_000;

/** Days after which a job is assumed to be over, unless another number is given. */
export const MOST_DAYS = 30;

/** Removes jobs that are over from the list, reports them, and returns their ids. Call it while the log is locked. @throws LogError */
export function endMissed(
  { list, days = MOST_DAYS, say = () => {} }: JobSources,
  tree: NodeTree,
): string[] {
  const now = Date.now();
  const old = (list?.jobs() ?? []).filter(({ since }) => now - since > GRACE_MS);
  if (old.length === 0) return [];
  const missed: string[] = [];
  // Ids such as 4001_7 are not names of Slurm's control groups.
  const running = old.some(({ id }) => /^\d+$/.test(id)) ? slurmJobs(tree) : null;
  for (const { id, since } of old) {
    const isGone = running !== null && /^\d+$/.test(id) && !running.has(id);
    if (!isGone && now - since <= days * DAY_MS) continue;
    list?.remove(id);
    missed.push(id);
    const why = isGone ? 'Slurm no longer runs it' : `it began ${days} days ago or earlier`;
    say(`job ${id} is over, and its end was missed: ${why}`);
  }
  return missed;
}
