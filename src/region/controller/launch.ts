/** Runs a command with a controller beside it: the controller's thread first, then the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { type FSWatcher, mkdtempSync, rmSync, watch } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { ENV_DIR, ENV_RING } from '../../model/region-layout.ts';
import type { Punctuality } from './deadlines.ts';
import { BELL, ENDED, EXIT_CODE, EXIT_SIGNAL, STARTED, WORDS } from './orders.ts';
import type { ControllerSettings } from './settings.ts';
import type { ControllerMessage, ControllerTask } from './worker.ts';

export interface LaunchOptions {
  readonly command: readonly string[];
  readonly settings: Omit<ControllerSettings, 'pages'>;
  /** Added to the command's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Gets warnings, one line each. */
  readonly say: (message: string) => void;
  /** Gets the lines of the live view. */
  readonly show?: (line: string) => void;
}

export interface LaunchResult {
  /** The command's exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /** Null where the controller came to an early end. */
  readonly punctuality: Punctuality | null;
}

/** The controller could not start. Nothing was run. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  /** Name of the error that stopped it; what was asked for; what could have been meant. */
  readonly reason: string;
  readonly given: string;
  readonly names: readonly string[];

  constructor({ name, message, given, names }: Extract<ControllerMessage, { kind: 'failed' }>) {
    super(message);
    this.reason = name;
    this.given = given;
    this.names = names;
  }
}

/** Events per thread that rings hold, where the profile trace or a record filter reads them. */
const RING_EVENTS = 4096;
/** ms in which the controller's last sample and report must be done once the command has ended. */
const PATIENCE = 10_000;
/** Exit codes of shells: no such command; it cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Signals that are passed on to the command. */
const PASSED = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

const SIGNAL_NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
);

/** @throws LaunchError before anything is run */
export async function launch(options: LaunchOptions): Promise<LaunchResult> {
  const pages = mkdtempSync(join(tmpdir(), 'triscope-region-'));
  let watcher: FSWatcher | null = null;
  try {
    const side = new ControllerSide({ ...options.settings, pages }, options);
    await side.ready;
    watcher = watchFolder(pages, () => side.ring());
    const code = await runCommand(options, pages, side);
    return { code, punctuality: await side.finished() };
  } finally {
    watcher?.close();
    rmSync(pages, { recursive: true, force: true });
  }
}

/** Where folders cannot be watched, the controller finds new pages at its next sample. */
function watchFolder(folder: string, ring: () => void): FSWatcher | null {
  try {
    return watch(folder, ring).on('error', () => {});
  } catch {
    return null;
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The controller as its starter sees it. */
class ControllerSide {
  /** Rejects with LaunchError. */
  readonly ready: Promise<void>;
  readonly #orders = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  readonly #done: Promise<Punctuality | null>;
  readonly #worker: Worker;
  readonly #say: (message: string) => void;

  constructor(
    settings: ControllerSettings,
    { say, show = say }: Pick<LaunchOptions, 'say' | 'show'>,
  ) {
    this.#say = say;
    const task: ControllerTask = { settings, orders: this.#orders, signals: SIGNAL_NAMES };
    this.#worker = new Worker(new URL('worker.js', import.meta.url), {
      workerData: task,
      name: 'region controller',
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
      env: SHARE_ENV,
    });
    const { promise: done, resolve: finish } = deferred<Punctuality | null>();
    this.#done = done;
    this.ready = new Promise((resolve, reject) => {
      let isReady = false;
      const fail = (failure: Extract<ControllerMessage, { kind: 'failed' }>) => {
        if (!isReady) reject(new LaunchError(failure));
        else say(`the controller came to an early end: ${failure.message}`);
        finish(null);
      };
      const died = (message: string) =>
        fail({ kind: 'failed', name: 'Error', message, given: '', names: [] });
      this.#worker.on('message', (message: ControllerMessage) => {
        if (message.kind === 'ready') {
          isReady = true;
          resolve();
        } else if (message.kind === 'warning') say(message.message);
        else if (message.kind === 'status') show(message.line);
        else if (message.kind === 'failed') fail(message);
        else finish(message.punctuality);
      });
      this.#worker.on('error', (error) => died(error.message));
      this.#worker.on('exit', () => finish(null));
    });
  }

  ring(): void {
    Atomics.add(this.#orders, BELL, 1);
    Atomics.notify(this.#orders, BELL);
  }

  started(): void {
    Atomics.store(this.#orders, STARTED, 1);
    this.ring();
  }

  ended(code: number, signal: number): void {
    Atomics.store(this.#orders, EXIT_CODE, code);
    Atomics.store(this.#orders, EXIT_SIGNAL, signal);
    Atomics.store(this.#orders, ENDED, 1);
    this.ring();
  }

  /** Nothing was run: no report of it. */
  async drop(): Promise<void> {
    await this.#worker.terminate();
  }

  async finished(): Promise<Punctuality | null> {
    const { promise: late, resolve } = deferred<'late'>();
    const timer = setTimeout(() => resolve('late'), PATIENCE);
    const end = await Promise.race([this.#done, late]);
    clearTimeout(timer);
    if (end !== 'late') return end;
    this.#say(`the controller did not end within ${PATIENCE / 1000} s; its report may be old`);
    void this.#worker.terminate();
    return null;
  }
}

/** Runs it, passing on signals. Resolves with its exit code. */
async function runCommand(
  { command, settings, env, say }: LaunchOptions,
  pages: string,
  side: ControllerSide,
): Promise<number> {
  const [file, ...args] = command;
  const rings = settings.profileTrace !== undefined || settings.recordFilter !== undefined;
  const { promise, resolve } = deferred<number>();
  const child = spawn(file, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...env,
      [ENV_DIR]: pages,
      ...(rings && { [ENV_RING]: String(RING_EVENTS) }),
    },
  });
  const release = passSignals(child);
  child.on('spawn', () => side.started());
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (child.pid !== undefined) return;
    say(`cannot run ${file}: ${error.code === 'ENOENT' ? 'no such command' : error.message}`);
    side.drop().finally(() => resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE));
  });
  child.on('exit', (code, signal) => {
    const number = signal === null ? 0 : constants.signals[signal];
    side.ended(code ?? 0, number);
    resolve(code ?? 128 + number);
  });
  try {
    return await promise;
  } finally {
    release();
  }
}

/** What is sent to us goes to the command; a terminal's Ctrl-C is sent to both of us already. */
function passSignals(child: ChildProcess): () => void {
  const listeners = PASSED.map((name) => {
    const listener = () => {
      const fromTerminal = (name === 'SIGINT' || name === 'SIGQUIT') && process.stdin.isTTY;
      if (!fromTerminal) child.kill(name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => {
    for (const [name, listener] of listeners) process.off(name, listener);
  };
}
