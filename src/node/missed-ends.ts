/**
 * Jobs of the list that ended without an `end`, as when an epilog was missed: those that Slurm no longer runs, if its
 * control groups show which it runs, and those that began too long ago. Their last sample has no end mark: when they
 * ended is not known.
 */
import type { JobSources } from './jobs.ts';
import { slurmJobs } from './slurm.ts';
import type { NodeTree } from './tree.ts';

/** Milliseconds after its begin for Slurm to make a job's control group: prologs run before. */
const GRACE = 600_000;
const DAY = 86_400_000;

/** Days after which a job is over, unless another number is given. */
export const MOST_DAYS = 30;

/** Takes jobs that are over off the list, says so, and gives their ids. Call it while the log is locked. @throws LogError */
export function endMissed(
  { list, days = MOST_DAYS, say = () => {} }: JobSources,
  tree: NodeTree,
): string[] {
  const now = Date.now();
  const old = (list?.jobs() ?? []).filter(({ since }) => now - since > GRACE);
  if (old.length === 0) return [];
  const missed: string[] = [];
  // Ids such as 4001_7 are none of Slurm's control groups.
  const running = old.some(({ id }) => /^\d+$/.test(id)) ? slurmJobs(tree) : null;
  for (const { id, since } of old) {
    const isGone = running !== null && /^\d+$/.test(id) && !running.has(id);
    if (!isGone && now - since <= days * DAY) continue;
    list?.remove(id);
    missed.push(id);
    const why = isGone ? 'Slurm no longer runs it' : `it began ${days} days ago or earlier`;
    say(`job ${id} is over, and its end was missed: ${why}`);
  }
  return missed;
}
