/** Samples signals on a separate thread at regular times, and passes the rows on. */

import { SHARE_ENV, type WorkerOptions } from 'node:worker_threads';
import { TriscopeError } from '../../model/error.ts';
import { startThread } from '../../os/thread.ts';
import type { PlatformOptions } from '../platform.ts';
import type { WatchColumn } from './requests.ts';
import type { SessionEnd, SessionRow, SessionTask } from './session-worker.ts';

export type { SessionRow };

/** Which signals are read, how often (seconds), for how long, and where the rows go. */
export interface SessionOptions {
  /** The machine, and whether demo values fill gaps. */
  readonly platform: Pick<PlatformOptions, 'root' | 'synthetic'>;
  /** The signals that each row has, in this order. */
  readonly columns: readonly WatchColumn[];
  /** Seconds between two samples; 0: a single sample. */
  readonly period: number;
  /** Seconds after which the session ends; 0: it ends with the process `pid`, or by `stop()`. */
  readonly duration: number;
  /** Id of the process with whose end the session ends. */
  readonly pid?: number;
  /** Called with each row of samples. */
  readonly onRow: (row: SessionRow) => void;
}

/** The thread ended early. */
export class SessionError extends TriscopeError {
  override readonly name = 'SessionError';
}

/**
 * Reads signals at regular times in a separate thread.
 * @example
 * ```ts
 * import { Platform, requestedColumns, rowText, Session } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const columns = requestedColumns(platform, [{ signal: 'TIME', domain: 'board', index: '0' }]);
 * const session = new Session({
 *   platform: {},
 *   columns,
 *   period: 0.1, // seconds
 *   duration: 2, // seconds
 *   onRow: ({ values }) => console.log(rowText(columns, values, ',')),
 * });
 * const { rows, late } = await session.done;
 * platform.close();
 * ```
 */
export class Session {
  /** How the session went; rejects with SessionError. */
  readonly done: Promise<SessionEnd>;
  private readonly _stop = new Int32Array(new SharedArrayBuffer(4));

  /** Starts the session at once. */
  constructor(options: SessionOptions) {
    const task: SessionTask = {
      platform: { root: options.platform.root, synthetic: options.platform.synthetic },
      columns: options.columns.map(({ signal, domain, index }) => ({ signal, domain, index })),
      period: options.period,
      duration: options.duration,
      pid: options.pid ?? 0,
      stop: this._stop,
    };
    const script = new URL('session-worker.js', import.meta.url);
    const how: WorkerOptions = { workerData: task, name: 'signal session', env: SHARE_ENV };
    const thread = startThread<SessionRow, SessionEnd>(script, how, options.onRow);
    this.done = thread.done.catch(({ message }: Error) => {
      throw new SessionError(message);
    });
  }

  /** Asks the session to end. */
  stop(): void {
    Atomics.store(this._stop, 0, 1);
    Atomics.notify(this._stop, 0);
  }
}
