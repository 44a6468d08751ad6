/** Runs a command with a controller beside it: the controller's thread first, then the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, type FSWatcher, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENV_DIR, ENV_RING } from '../../model/region-layout.ts';
import { isForeground } from '../../os/foreground.ts';
import type { Punctuality } from './deadlines.ts';
import { pagesFolder } from './pages-folder.ts';
import type { ControllerSettings } from './settings.ts';
import { ControllerSide, deferred, type Hearers, LaunchError } from './side.ts';

export interface LaunchOptions extends Hearers {
  readonly command: readonly string[];
  readonly settings: Omit<ControllerSettings, 'pages'>;
  /** Variables added to the command's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of the pages, in which other processes of this machine mark, too; removed at the end. */
  readonly pages?: string;
  /** Seconds that a command which handles SIGTERM, SIGINT or SIGHUP has before it is killed. */
  readonly killAfter: number;
  /** Receives the command's process once it runs. */
  readonly onStart?: (pid: number) => void;
  /** Receives the command's output, which is passed on. If absent, the command writes to stdout itself. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /** Called when the command has ended; sampling continues until the promise resolves. */
  readonly others?: () => Promise<void>;
}

export interface LaunchResult {
  /** The command's exit code; 128 plus the signal's number if a signal ended it. */
  readonly code: number;
  /** Null if the controller ended early. */
  readonly punctuality: Punctuality | null;
  /** The controller's thread is blocked for ever: exitNow() must end the process. */
  readonly stuck: boolean;
}

/** The controller creates this file beside the pages once it samples. */
const SAMPLING = 'sampling';
/** ms that other ranks wait for that file. */
const START_WAIT_MS = 30_000;
/** Events per thread that the rings hold, if the profile trace or a record filter reads them. */
const RING_EVENTS = 4096;
/** Exit codes of shells: the command does not exist; it cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Signals that are passed on to the command. */
const PASSED = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** Those of them that ask a command to end. */
const ENDING: ReadonlySet<string> = new Set(['SIGTERM', 'SIGHUP', 'SIGINT']);
/** Milliseconds from such a signal until a command that ignores it is killed. */
const IGNORED_GRACE_MS = 1500;
/** Milliseconds that the controller then has for its report. */
const HURRIED_MS = 1000;

/** @throws LaunchError before the command starts */
export async function launch(options: LaunchOptions): Promise<LaunchResult> {
  const signals = new SignalRelay(options);
  const folder = pagesFolder(options.pages);
  const pages = folder.path;
  let watcher: FSWatcher | null = null;
  try {
    const side = new ControllerSide({ ...options.settings, pages }, options);
    await Promise.race([side.ready, signals.first]);
    watcher = side.watch(pages);
    if (signals.early === null) await Promise.race([side.begin(), signals.first]);
    writeFileSync(join(pages, SAMPLING), '');
    const code = await runCommand(options, markingIn(pages, options.settings), side, signals);
    const punctuality = await side.finished(signals.hasEnded ? HURRIED_MS : undefined);
    return { code, punctuality, stuck: side.stuck };
  } finally {
    signals.release();
    watcher?.close();
    folder.remove();
  }
}

type RunOptions = Pick<
  LaunchOptions,
  'command' | 'env' | 'say' | 'killAfter' | 'onStart' | 'onOutput'
>;

/** Runs a command without a controller. Resolves with its exit code. */
export async function launchAlone(options: RunOptions): Promise<number> {
  const signals = new SignalRelay(options);
  try {
    return await runCommand(options, {}, null, signals);
  } finally {
    signals.release();
  }
}

export interface MarkOptions extends RunOptions {
  readonly settings: Pick<ControllerSettings, 'profileTrace' | 'recordFilter'>;
  readonly pages: string;
}

/** Runs a command that the controller of another process samples. Resolves with its exit code. */
export async function launchMarked({ pages, ...options }: MarkOptions): Promise<number> {
  const signals = new SignalRelay(options);
  try {
    await whenSampled(pages, signals);
    return await runCommand(options, markingIn(pages, options.settings), null, signals);
  } finally {
    signals.release();
  }
}

/** Variables that make the command's processes mark regions. */
function markingIn(
  pages: string,
  { profileTrace, recordFilter }: MarkOptions['settings'],
): Record<string, string> {
  const rings = profileTrace !== undefined || recordFilter !== undefined;
  return { [ENV_DIR]: pages, ...(rings && { [ENV_RING]: String(RING_EVENTS) }) };
}

/** Name of the file in a folder of pages that says that its controller cannot sample. */
export const REFUSED = 'refused';

/**
 * Waits until the controller of `pages` samples: if the command started earlier, its first time would have no energy.
 * @throws LaunchError if no controller samples
 */
async function whenSampled(pages: string, signals: SignalRelay): Promise<void> {
  const until = Date.now() + START_WAIT_MS;
  // Without the folder there is no controller.
  const waits = () => existsSync(pages) && !existsSync(join(pages, SAMPLING));
  while (waits() && signals.early === null && Date.now() < until) {
    if (existsSync(join(pages, REFUSED))) {
      const message = 'the first task on this host cannot record: nothing is run';
      throw new LaunchError({ message }, false);
    }
    await sleep(5);
  }
}

/** Why a command cannot be run. Source: execve(2). */
function whyNot(file: string, { code, message }: NodeJS.ErrnoException): string {
  const stat = file.includes('/') ? statSync(file, { throwIfNoEntry: false }) : undefined;
  if (code === 'ENOENT') {
    return stat === undefined
      ? 'no such command'
      : 'the interpreter of its first line, or its loader, is not there';
  }
  if (stat?.isDirectory()) return 'it is a folder';
  if (code === 'EACCES') return 'it may not be executed (chmod +x)';
  return code === 'ENOEXEC' ? 'it is neither a program nor a script with a first line #!' : message;
}

/** Runs the command. Resolves with its exit code. */
async function runCommand(
  { command, env, say, onStart, onOutput, others }: RunOptions & Pick<LaunchOptions, 'others'>,
  marking: Readonly<Record<string, string>>,
  side: ControllerSide | null,
  signals: SignalRelay,
): Promise<number> {
  if (signals.early !== null) {
    await side?.drop();
    return 128 + constants.signals[signals.early];
  }
  const [file, ...args] = command;
  const { promise, resolve } = deferred<number>();
  const child = spawn(file, args, {
    stdio: ['inherit', onOutput === undefined ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, ...env, ...marking },
  });
  signals.to(child);
  const passed = child.stdout === null ? null : passOn(child.stdout, (bytes) => onOutput?.(bytes));
  if (child.pid !== undefined) onStart?.(child.pid);
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (child.pid !== undefined) return;
    say(`cannot run ${file}: ${whyNot(file, error)}`);
    const failure = error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE;
    side?.ended(failure, 0);
    resolve(failure);
  });
  child.on('exit', async (code, signal) => {
    const number = signal === null ? 0 : constants.signals[signal];
    if (passed !== null) await Promise.race([passed, sleep(LAST_WORDS_MS)]);
    await others?.();
    side?.ended(code ?? 0, number);
    resolve(code ?? 128 + number);
  });
  return promise;
}

/** Milliseconds to wait, after the command's end, for the rest of its output: another process may hold its stdout open. */
const LAST_WORDS_MS = 500;

/** Passes on the command's output. Resolves when all of it has arrived. */
function passOn(from: Readable, take: (bytes: Uint8Array) => void): Promise<void> {
  const { promise, resolve } = deferred<void>();
  // If the reader of our output goes away, the command shall get SIGPIPE; it does not end us.
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => from.destroy());
  from.on('data', (bytes: Uint8Array) => {
    take(bytes);
    if (process.stdout.write(bytes)) return;
    from.pause();
    process.stdout.once('drain', () => from.resume());
  });
  from.on('close', resolve);
  return promise;
}

/**
 * Passes signals sent to us on to the command. A terminal sends its Ctrl-C to both already. It listens before the
 * command starts, because a signal in between would end us and leave the command running. A command that does not end is killed: soon
 * if it ignores the signal, otherwise after the time that the user grants.
 */
class SignalRelay {
  /** Signals that arrived before the command started. */
  early: NodeJS.Signals | null = null;
  /** Whether a signal that asks to end has arrived. */
  hasEnded = false;
  /** Resolves with the first such signal. */
  readonly first: Promise<void>;
  private readonly tell: () => void;
  private readonly options: Pick<LaunchOptions, 'killAfter' | 'say'>;
  private child: ChildProcess | null = null;
  private timers: readonly NodeJS.Timeout[] = [];
  private readonly listener = (name: NodeJS.Signals) => {
    const fromTerminal = (name === 'SIGINT' || name === 'SIGQUIT') && isForeground();
    if (this.child === null) this.early ??= name;
    else {
      if (!fromTerminal) this.child.kill(name);
      if (ENDING.has(name) && !this.hasEnded) this.killLater(this.child, name);
    }
    this.hasEnded ||= ENDING.has(name);
    this.tell();
  };

  constructor(options: Pick<LaunchOptions, 'killAfter' | 'say'>) {
    const { promise, resolve } = deferred<void>();
    this.first = promise;
    this.tell = resolve;
    this.options = options;
    for (const name of PASSED) process.on(name, this.listener);
  }

  to(child: ChildProcess): void {
    this.child = child;
    child.on('exit', () => this.timers.forEach(clearTimeout));
  }

  private killLater(child: ChildProcess, name: NodeJS.Signals): void {
    const { killAfter, say } = this.options;
    const kill = (why: string) => {
      say(`${name}: the command ${why}: killed`);
      child.kill('SIGKILL');
    };
    this.timers = [
      setTimeout(() => {
        if (ignores(child.pid ?? 0, name)) kill('ignores it');
      }, IGNORED_GRACE_MS),
      setTimeout(() => kill(`has not ended within ${killAfter} s`), killAfter * 1000),
    ];
  }

  release(): void {
    for (const name of PASSED) process.off(name, this.listener);
  }
}

/** Whether a process ignores a signal; false if that is not known. Source: proc(5), SigIgn. */
function ignores(pid: number, name: NodeJS.Signals): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const mask = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
    return ((mask >> BigInt(constants.signals[name] - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}
