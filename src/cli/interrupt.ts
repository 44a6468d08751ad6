/** Ctrl-C and its like: the first asks the command to stop and ends it where it does not, the second ends it at once. */
import { launchedRank } from '../os/mpi/launcher.ts';
import type { LoadedModel } from '../sim/load-model.ts';
import { EXIT } from './errors.ts';
import { ECHO, guardThread, guardTimer, type LastFile } from './guard.ts';
import { leave } from './leave.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** All has stopped: what there is takes the time that it takes to be written. */
  writing(): void;
  /** What is to be in a file where the command is ended before it writes that itself. */
  leave(file: LastFile): void;
  /** Back to how signals were, where none has come. */
  release(): void;
}

/**
 * mpirun passes SIGUSR2 on as it is; after the others it gives ranks a second. SIGHUP
 * is what a lost connection sends: Node takes it also where nohup(1) has it ignored. (SIGUSR1 starts Node's debugger.)
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;
/** Those that end everything soon: SIGUSR2 leaves it the time that it needs. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Whether a call of the main thread may not return: a user's handler, or MPI where another rank is in one. */
export const mayBlock = ({ reference }: LoadedModel): boolean =>
  !('name' in reference) || launchedRank() !== null;

/**
 * Listens to SIGINT, SIGTERM, SIGUSR2, and SIGHUP, which a lost connection sends, until released.
 * @param blocks whether the main thread may be in a call that does not return, such as a model's
 */
export function onInterrupt(blocks = false): Interrupt {
  const controller = new AbortController();
  const { signal } = controller;
  const guard = (blocks ? guardThread : guardTimer)(ENDING, EXIT.interrupted);
  let first = 0;
  const listener = () => {
    if (signal.aborted) {
      if (performance.now() - first > ECHO) leave(EXIT.interrupted);
      return;
    }
    first = performance.now();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal,
    writing: guard.writing,
    leave: guard.leave,
    release: () => {
      // A second signal while an interrupted command ends must not kill it before it has told how it ended.
      if (signal.aborted) return;
      for (const name of SIGNALS) process.off(name, listener);
      guard.release();
    },
  };
}
