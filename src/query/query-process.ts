/** Starts and ends the process of its own for DuckDB, which enforces limits since it can be ended at any moment. */
import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { entryOf } from '../os/entry.ts';
import { MemoryLimitError } from './errors.ts';
import type { QueryProcessTask } from './process.ts';
import { SETTINGS } from './settings.ts';
import { spillFolder } from './spill.ts';

const ENTRY = entryOf(new URL('entry.js', import.meta.url));

const open = new Set<QueryProcess>();
let isWatched = false;

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export class QueryProcess {
  private readonly child: ChildProcess;
  private readonly spill = spillFolder();
  private readonly memory: string;
  /** Why it was ended from here. */
  private reason: Error | null = null;

  /**
   * `onEnd` is called once, with why: it was ended, it took more memory than it may, or it broke down.
   * @param background whether it leaves the CPUs to others
   */
  constructor(
    task: Without<QueryProcessTask, 'spill'>,
    onMessage: (message: unknown) => void,
    onEnd: (why: Error) => void,
    background = false,
  ) {
    this.memory = task.memory ?? SETTINGS.memory_limit;
    this.child = fork(ENTRY, ['query'], {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    if (background) leaveCpus(this.child);
    this.child.on('message', onMessage);
    // Sending to a process that has just ended fails; `onEnd` reports its end.
    this.child.on('error', () => {});
    let ended = false;
    const end = (signal: NodeJS.Signals | null) => {
      if (ended) return;
      ended = true;
      open.delete(this);
      rmSync(this.spill, { recursive: true, force: true });
      onEnd(this.reason ?? this.why(signal));
    };
    this.child.on('exit', (_code, signal) => end(signal));
    this.child.on('error', () => {
      if (this.child.pid === undefined) end(null);
    });
    this.post({ ...task, spill: this.spill } as QueryProcessTask);
    open.add(this);
    watchExit();
  }

  post(message: object): void {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /** Ends it at once. */
  kill(reason: Error): void {
    this.reason ??= reason;
    this.child.kill('SIGKILL');
  }

  /** With the process that started it. */
  killAtExit(): void {
    this.child.kill('SIGKILL');
    rmSync(this.spill, { recursive: true, force: true });
  }

  /** Whether the program goes on while it does. */
  ref(): void {
    this.child.ref();
    this.child.channel?.ref();
  }

  unref(): void {
    this.child.unref();
    this.child.channel?.unref();
  }

  private why(signal: NodeJS.Signals | null): Error {
    return signal === 'SIGKILL'
      ? new MemoryLimitError(
          `the query was stopped: it needed more memory than its limit, ${this.memory}`,
        )
      : new Error('DuckDB ended unexpectedly; run the query again');
  }
}

/** Its threads, which it has yet to start, get the priority of its first. */
function leaveCpus({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has just ended.
  }
}

function watchExit(): void {
  if (isWatched) return;
  isWatched = true;
  process.on('exit', () => {
    for (const one of open) one.killAtExit();
  });
}
