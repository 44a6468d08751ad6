/** Entry of the thread that reads received files into an archive's job index, so that the archive's writer can go on. */
import { indexArrived } from '../findings/job/index.ts';
import { doTask } from '../os/thread.ts';

/** Files that came, by their paths in the archive. */
export interface IndexTask {
  readonly folder: string;
  readonly paths: readonly string[];
}

void doTask(({ folder, paths }: IndexTask) => indexArrived(folder, paths));
