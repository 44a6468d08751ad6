/** Entry of the thread that reads what has come into an archive into its job index: its writer goes on meanwhile. */
import { indexArrived } from '../findings/job/index.ts';
import { doTask } from '../os/thread.ts';

/** Files that came, by their paths in the archive. */
export interface IndexTask {
  readonly folder: string;
  readonly paths: readonly string[];
}

void doTask(({ folder, paths }: IndexTask) => indexArrived(folder, paths));
