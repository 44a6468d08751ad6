/** The controller's thread, as seen from the thread that starts it. */
import { type FSWatcher, watch } from 'node:fs';
import { constants } from 'node:os';
import { SHARE_ENV, type Worker, type WorkerOptions } from 'node:worker_threads';
import { EXIT, TriscopeError } from '../../model/error.ts';
import { entryOf } from '../../os/entry.ts';
import { openThread, type TaskMessage } from '../../os/thread.ts';
import type { Punctuality } from './deadlines.ts';
import { BELL, ENDED, EXIT_CODE, EXIT_SIGNAL, STARTED, WATCHED, WORDS } from './orders.ts';
import type { ControllerSettings } from './settings.ts';
import type { ControllerSaid, ControllerTask } from './worker.ts';

export interface Hearers {
  /** Receives warnings, one line each. */
  readonly say: (message: string) => void;
  /** Receives the lines of the live view. */
  readonly show?: (line: string) => void;
}

/** Why it could not: an error of its thread, or one like it. */
interface Refusal {
  readonly message: string;
  readonly exitCode?: number;
  readonly given?: string;
  readonly names?: readonly string[];
}

/** The controller could not start. The command was not run. */
export class LaunchError extends TriscopeError {
  override readonly name = 'LaunchError';
  override readonly exitCode: number;
  /** The name that was requested; the names that may have been meant. */
  readonly given: string;
  readonly names: readonly string[];
  /** The thread is blocked for ever: exitNow() must end the process. */
  readonly stuck: boolean;

  constructor(
    { exitCode = EXIT.failed, message, given = '', names = [] }: Refusal,
    stuck: boolean,
  ) {
    super(message);
    this.stuck = stuck;
    this.exitCode = exitCode;
    this.given = given;
    this.names = names;
  }
}

/** ms that the controller has for its last sample and report after the application's end. */
const FINISH_WAIT_MS = 10_000;
/** ms that its thread has to end if no command was run. */
const DROP_WAIT_MS = 500;
/** ms until it must be ready to sample. */
const START_WAIT_MS = 30_000;

const BLOCKED = ': a file that a signal is read from may not answer';

const SIGNAL_NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (why: Error) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (why: Error) => void = () => {};
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

async function orLate<T>(what: Promise<T>, ms: number): Promise<T | 'late'> {
  const { promise, resolve } = deferred<'late'>();
  const timer = setTimeout(() => resolve('late'), ms);
  try {
    return await Promise.race([what, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The controller, as seen from the thread that starts it. */
export class ControllerSide {
  /** Rejects with LaunchError. */
  readonly ready: Promise<void>;
  private readonly orders = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  private readonly done: Promise<Punctuality | null>;
  /** Why it could not start; null if it did. */
  private readonly begun: Promise<LaunchError | null>;
  private readonly worker: Worker;
  /** It waits for a file that does not respond: nothing can end its thread. */
  stuck = false;
  private readonly say: (message: string) => void;

  constructor(settings: ControllerSettings, { say, show = say }: Hearers) {
    this.say = say;
    const task: ControllerTask = { settings, orders: this.orders, signals: SIGNAL_NAMES };
    const { promise: done, resolve: finish } = deferred<Punctuality | null>();
    this.done = done;
    const { promise: begun, resolve: begin } = deferred<LaunchError | null>();
    this.begun = begun;
    const ready = deferred<void>();
    this.ready = ready.promise;
    let [isReady, hasBegun] = [false, false];
    const refuse = (why: Refusal) => {
      const error = new LaunchError(why, this.stuck);
      if (!isReady) ready.reject(error);
      else if (hasBegun) say(`the controller came to an early end: ${why.message}`);
      begin(error);
      finish(null);
    };
    const options: WorkerOptions = {
      argv: ['controller'],
      workerData: task,
      name: 'region controller',
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
      env: SHARE_ENV,
    };
    const script = entryOf(new URL('worker.js', import.meta.url));
    this.worker = openThread<TaskMessage<ControllerSaid, Punctuality>>(script, options, {
      hear: (message) => {
        if ('result' in message) finish(message.result);
        else if (message.said === 'ready') {
          isReady = true;
          clearTimeout(timer);
          ready.resolve();
        } else if (message.said === 'begun') {
          hasBegun = true;
          begin(null);
        } else if ('warning' in message.said) say(message.said.warning);
        else show(message.said.status);
      },
      fail: (why, fault) => {
        if (fault === 'threw') refuse(why);
        else if (fault === 'crashed') refuse({ message: why.message });
        begin(null);
        finish(null);
      },
    });
    const timer = setTimeout(() => {
      this.stuck = true;
      const message = `the controller was not ready within ${START_WAIT_MS / 1000} s${BLOCKED}`;
      refuse({ message });
    }, START_WAIT_MS);
    done.then(() => clearTimeout(timer));
  }

  ring(): void {
    Atomics.add(this.orders, BELL, 1);
    Atomics.notify(this.orders, BELL);
  }

  /** From now on the bell rings when the folder of pages changes. If folders cannot be watched, the controller polls. */
  watch(folder: string): FSWatcher | null {
    try {
      const watcher = watch(folder, () => this.ring()).on('error', () => {});
      Atomics.store(this.orders, WATCHED, 1);
      return watcher;
    } catch {
      return null;
    }
  }

  /** Sampling begins. The command may start when this resolves, so that nothing of it is missed. @throws LaunchError */
  async begin(): Promise<void> {
    Atomics.store(this.orders, STARTED, 1);
    this.ring();
    const error = await this.begun;
    if (error !== null) throw error;
  }

  ended(code: number, signal: number): void {
    Atomics.store(this.orders, EXIT_CODE, code);
    Atomics.store(this.orders, EXIT_SIGNAL, signal);
    Atomics.store(this.orders, ENDED, 1);
    this.ring();
  }

  /** No command was run: writes no report. */
  async drop(): Promise<void> {
    const end = await orLate(this.worker.terminate(), DROP_WAIT_MS);
    this.stuck ||= end === 'late';
  }

  /** @param patience ms that it has for its last sample and report */
  async finished(patience = FINISH_WAIT_MS): Promise<Punctuality | null> {
    const end = await orLate(this.done, patience);
    if (end !== 'late') return end;
    this.stuck = true;
    const late = `the controller did not end within ${patience / 1000} s${BLOCKED}`;
    this.say(`${late}; its report may be old`);
    return null;
  }
}
