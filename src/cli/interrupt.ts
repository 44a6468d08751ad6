/** Ctrl-C: the first asks the run to stop, the second ends the process at once. */
import { EXIT } from './errors.ts';
import { leave } from './leave.ts';

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Back to how signals were, where none has come. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Milliseconds in which a second signal is the first once more: npm and timeout(1) pass on what we got too. */
const ECHO = 300;

/** Listens to SIGINT and SIGTERM until released. */
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
