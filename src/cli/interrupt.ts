/** Ctrl-C and its like: the first asks the command to stop and ends it where it does not, the second ends it at once. */
import { launchedRank } from '../os/mpi/launcher.ts';
import type { LoadedModel } from '../sim/load-model.ts';
import { EXIT } from './errors.ts';
import { ECHO_MS, guardThread, guardTimer, type LastFile } from './guard.ts';
import { leave } from './leave.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** The run has stopped: writing its results may take as long as it takes. */
  writing(): void;
  /** Content for a file, to be written if the command is ended before it writes the file itself. */
  leave(file: LastFile): void;
  /** Stops listening, unless a signal has come. */
  release(): void;
}

/**
 * mpirun passes SIGUSR2 on unchanged; after the other signals it kills ranks within a second. SIGHUP
 * is what a lost connection sends: Node takes it also where nohup(1) has it ignored. (SIGUSR1 starts Node's debugger.)
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;
/** Signals after which the process is ended soon; after SIGUSR2 it may take the time that it needs. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Whether the main thread may be stuck in a call: in a user's handler, or in MPI while another rank is in one. */
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
      if (performance.now() - first > ECHO_MS) leave(EXIT.interrupted);
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
