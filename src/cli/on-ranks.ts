/** Commands that an MPI launcher may start on every rank. */
import { launchedRank } from '../os/mpi/launcher.ts';

/** Runs it; under a launcher, what is the matter with it on all ranks is said by rank 0 first. */
export async function onRanks(run: () => Promise<number>): Promise<number> {
  if (launchedRank() === null) return run();
  try {
    return await run();
  } catch (error) {
    return (await import('./ranks.ts')).failRank(error);
  }
}
