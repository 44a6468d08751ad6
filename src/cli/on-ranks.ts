/** Commands that an MPI launcher may start on every rank. */
import { launchedRank } from '../os/mpi/launcher.ts';

/** Runs the command; under a launcher, rank 0 reports an error that all ranks have. */
export async function onRanks(run: () => Promise<number>): Promise<number> {
  if (launchedRank() === null) return run();
  try {
    return await run();
  } catch (error) {
    return (await import('./ranks.ts')).failRank(error);
  }
}
