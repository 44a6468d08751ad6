/** Commands that an MPI launcher may start on every rank. */
import { launchedRank } from '../os/mpi/launcher.ts';

type Command = (args: readonly string[]) => Promise<number>;

/** `command`; under a launcher, what is the matter with it on all ranks is said by rank 0 first. */
export const onRanks =
  (command: Command): Command =>
  async (args) => {
    if (launchedRank() === null) return command(args);
    try {
      return await command(args);
    } catch (error) {
      return (await import('./ranks.ts')).failRank(error);
    }
  };
