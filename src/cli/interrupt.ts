/** Ctrl-C and its like: the first asks the run to stop, the second ends the process at once. */
import { EXIT } from './errors.ts';
import { leave } from './leave.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Back to how signals were, where none has come. */
  release(): void;
}

/**
 * mpirun passes SIGUSR2 on as it is; after the others it gives ranks a second. SIGHUP
 * is what a lost connection sends: Node takes it also where nohup(1) has it ignored. (SIGUSR1 starts Node's debugger.)
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

/** Milliseconds in which a second signal is the first once more: npm and timeout(1) pass on what we got too. */
const ECHO = 300;

/** Listens to SIGINT, SIGTERM, SIGUSR2, and SIGHUP, which a lost connection sends, until released. */
export function onInterrupt(): Interrupt {
  const controller = new AbortController();
  let first = 0;
  const listener = () => {
    if (controller.signal.aborted) {
      if (performance.now() - first > ECHO) leave(EXIT.interrupted);
      return;
    }
    first = performance.now();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: controller.signal,
    release: () => {
      // A second signal while an interrupted command ends must not kill it before it has told how it ended.
      if (controller.signal.aborted) return;
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}
