/** Guards: after a signal they end a process that does not end by itself, or whose main thread is in a call that does not return. */
import { renameSync, writeFileSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { exitNow } from '../os/exit.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import { type CaughtSignals, catchSignals } from '../os/signals.ts';

/** Milliseconds in which a second signal counts as the first: npm and timeout(1) also pass on the signal that this process got already. */
export const ECHO_MS = 300;

/** Milliseconds from a signal to the end of what does not stop. */
const GRACE_MS = 1500;
/** The same for ranks. mpirun kills them after a second; a signal sent to one rank stops the others, too. */
const RANK_GRACE_MS = 5000;

const grace = (): number => (launchedRank() === null ? GRACE_MS : RANK_GRACE_MS);

/** Milliseconds from a signal to the file that is left: before mpirun kills. */
export const LEAVE_MS = 600;

/** Value of the shared word once the run has stopped and its results are being written. */
export const WRITING = 1;

export interface GuardTask {
  readonly word: Int32Array<SharedArrayBuffer>;
  readonly grace: number;
  readonly caught: CaughtSignals;
  /** The exit code. */
  readonly code: number;
}

export interface LastFile {
  readonly path: string;
  readonly text: string;
}

/** A file that is written where the main thread cannot do it; null: the guard is not needed any longer. */
export type GuardMessage = LastFile | null;

export interface SignalGuard {
  /** The run has stopped and writes its results: from here on only a second signal ends the process. */
  writing(): void;
  /** Content for a file, to be written if the process is ended before it writes the file itself. */
  leave(file: LastFile): void;
  release(): void;
}

/** A thread that stands by for `names`, to which the main thread listens too; it ends the process with `code`. */
export function guardThread(names: readonly NodeJS.Signals[], code: number): SignalGuard {
  const caught = tryCatch(names);
  // Without FFI, only a main thread that returns to its event loop can be ended.
  if (caught === null) return guardTimer(names, code);
  const word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const task: GuardTask = { word, grace: grace(), caught, code };
  // Without modules that the user has Node load first, since these may count threads.
  const worker = new Worker(new URL('guard-worker.js', import.meta.url), {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 1 },
  });
  worker.unref();
  // Without the thread, a call that does not return cannot be ended gently.
  worker.on('error', () => {});
  const tell = (message: GuardMessage) => worker.postMessage(message);
  return {
    writing: () => Atomics.store(word, 0, WRITING),
    leave: tell,
    release: () => tell(null),
  };
}

function tryCatch(names: readonly NodeJS.Signals[]): CaughtSignals | null {
  try {
    return catchSignals(names);
  } catch {
    return null;
  }
}

/** The same where the main thread always returns to its event loop: a timer is enough. */
export function guardTimer(names: readonly NodeJS.Signals[], code: number): SignalGuard {
  let isWriting = false;
  let last: LastFile | null = null;
  const ms = grace();
  const wait = () => {
    setTimeout(() => isWriting || leaveFile(last), LEAVE_MS).unref();
    setTimeout(() => isWriting || endOverdue(ms, code), ms).unref();
  };
  for (const name of names) process.once(name, wait);
  return {
    writing: () => {
      isWriting = true;
    },
    leave: (file) => {
      last = file;
    },
    release: () => {
      for (const name of names) process.off(name, wait);
    },
  };
}

/** Writes it, as a whole. */
export function leaveFile(file: LastFile | null): void {
  if (file === null) return;
  try {
    writeFileSync(`${file.path}.tmp`, file.text);
    renameSync(`${file.path}.tmp`, file.path);
  } catch {
    // A full disk must not keep the process from its end.
  }
}

/** Says why, and ends the process. */
export function endOverdue(ms: number, code: number): never {
  try {
    writeSync(2, `triscope: ended: it had not stopped ${ms / 1000} s after the signal\n`);
  } catch {
    // Nor may a closed pipe keep it.
  }
  return exitNow(code);
}
