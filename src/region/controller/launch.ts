/** Runs a command with a controller beside it: the controller's thread first, then the command. */
import { spawn } from 'node:child_process';
import { type FSWatcher, mkdtempSync, rmSync, watch } from 'node:fs';
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
}

export interface LaunchResult {
  /** The command's exit code; 128 and the signal's number where a signal ended it. */
  readonly code: number;
  /** Null where the controller came to an early end. */
  readonly punctuality: Punctuality | null;
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
export function watchFolder(folder: string, ring: () => void): FSWatcher | null {
  try {
    return watch(folder, ring).on('error', () => {});
  } catch {
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
  // Before it is there: it may be faster than we are, and who sees it at work may send a signal.
  const release = passSignals((name) => child.kill(name));
  const child = spawn(file, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...env,
      [ENV_DIR]: pages,
      ...(rings && { [ENV_RING]: String(RING_EVENTS) }),
    },
  });
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
function passSignals(pass: (name: NodeJS.Signals) => void): () => void {
  const listeners = PASSED.map((name) => {
    const listener = () => {
      const fromTerminal = (name === 'SIGINT' || name === 'SIGQUIT') && process.stdin.isTTY;
      if (!fromTerminal) pass(name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => {
    for (const [name, listener] of listeners) process.off(name, listener);
  };
}
