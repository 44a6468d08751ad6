/** Runs a command with a controller beside it: the controller's thread first, then the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { type FSWatcher, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENV_DIR, ENV_RING } from '../../model/region-layout.ts';
import type { Punctuality } from './deadlines.ts';
import type { ControllerSettings } from './settings.ts';
import { ControllerSide, deferred, type Hearers } from './side.ts';

export interface LaunchOptions extends Hearers {
  readonly command: readonly string[];
  readonly settings: Omit<ControllerSettings, 'pages'>;
  /** Added to the command's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of the pages, where other processes of this machine mark too; it is removed in the end. */
  readonly pages?: string;
  /** Called when the command has ended: sampling goes on until it resolves. */
  readonly others?: () => Promise<void>;
}

export interface LaunchResult {
  /** The command's exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /** Null where the controller came to an early end. */
  readonly punctuality: Punctuality | null;
  /** The controller's thread will never end: exitNow() ends the process. */
  readonly stuck: boolean;
}

/** Events per thread that rings hold, where the profile trace or a record filter reads them. */
const RING_EVENTS = 4096;
/** Exit codes of shells: no such command; it cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Signals that are passed on to the command. */
const PASSED = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** @throws LaunchError before anything is run */
export async function launch(options: LaunchOptions): Promise<LaunchResult> {
  const signals = new SignalRelay();
  const pages = options.pages ?? mkdtempSync(join(tmpdir(), 'triscope-region-'));
  let watcher: FSWatcher | null = null;
  try {
    const side = new ControllerSide({ ...options.settings, pages }, options);
    await side.ready;
    watcher = side.watch(pages);
    const code = await runCommand(options, pages, side, signals);
    const punctuality = await side.finished();
    return { code, punctuality, stuck: side.stuck };
  } finally {
    signals.release();
    watcher?.close();
    rmSync(pages, { recursive: true, force: true });
  }
}

export interface MarkOptions extends Pick<LaunchOptions, 'command' | 'env' | 'say'> {
  readonly settings: Pick<ControllerSettings, 'profileTrace' | 'recordFilter'>;
  readonly pages: string;
}

/** Runs a command that another process's controller samples. Resolves with its exit code. */
export async function launchMarked({ pages, ...options }: MarkOptions): Promise<number> {
  const signals = new SignalRelay();
  try {
    return await runCommand(options, pages, null, signals);
  } finally {
    signals.release();
  }
}

/** Runs it. Resolves with its exit code. */
async function runCommand(
  {
    command,
    settings,
    env,
    say,
    others,
  }: Omit<MarkOptions, 'pages'> & Pick<LaunchOptions, 'others'>,
  pages: string,
  side: ControllerSide | null,
  signals: SignalRelay,
): Promise<number> {
  if (signals.early !== null) {
    await side?.drop();
    return 128 + constants.signals[signals.early];
  }
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
  signals.to(child);
  child.on('spawn', () => side?.started());
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (child.pid !== undefined) return;
    say(`cannot run ${file}: ${error.code === 'ENOENT' ? 'no such command' : error.message}`);
    (side?.drop() ?? Promise.resolve()).finally(() =>
      resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE),
    );
  });
  child.on('exit', async (code, signal) => {
    const number = signal === null ? 0 : constants.signals[signal];
    await others?.();
    side?.ended(code ?? 0, number);
    resolve(code ?? 128 + number);
  });
  return promise;
}

/**
 * What is sent to us goes to the command; a terminal's Ctrl-C is sent to both of us already. It listens before the
 * command runs: a signal in between would end us, and leave the command alone.
 */
class SignalRelay {
  /** What came before there was a command. */
  early: NodeJS.Signals | null = null;
  #child: ChildProcess | null = null;
  readonly #listener = (name: NodeJS.Signals) => {
    const fromTerminal = (name === 'SIGINT' || name === 'SIGQUIT') && process.stdin.isTTY;
    if (this.#child === null) this.early ??= name;
    else if (!fromTerminal) this.#child.kill(name);
  };

  constructor() {
    for (const name of PASSED) process.on(name, this.#listener);
  }

  to(child: ChildProcess): void {
    this.#child = child;
  }

  release(): void {
    for (const name of PASSED) process.off(name, this.#listener);
  }
}
