/** Samples signals on a thread of its own, at even times, and hands the rows over. */

import { SHARE_ENV, Worker } from 'node:worker_threads';
import { TriscopeError } from '../../model/error.ts';
import type { PlatformOptions } from '../platform.ts';
import type { WatchColumn } from './requests.ts';
import type { SessionEnd, SessionMessage, SessionRow, SessionTask } from './session-worker.ts';

export type { SessionRow };

export interface SessionOptions {
  readonly platform: Pick<PlatformOptions, 'root' | 'synthetic'>;
  readonly columns: readonly WatchColumn[];
  /** Seconds between two samples; 0: one sample. */
  readonly period: number;
  /** Seconds; 0: until the process `pid` ends, or `stop()`. */
  readonly duration: number;
  /** A process at whose end the session ends. */
  readonly pid?: number;
  readonly onRow: (row: SessionRow) => void;
}

/** The thread came to an early end. */
export class SessionError extends TriscopeError {
  override readonly name = 'SessionError';
}

export class Session {
  /** How it went; rejects with SessionError. */
  readonly done: Promise<SessionEnd>;
  private readonly _stop = new Int32Array(new SharedArrayBuffer(4));

  constructor(options: SessionOptions) {
    const task: SessionTask = {
      platform: { root: options.platform.root, synthetic: options.platform.synthetic },
      columns: options.columns.map(({ signal, domain, index }) => ({ signal, domain, index })),
      period: options.period,
      duration: options.duration,
      pid: options.pid ?? 0,
      stop: this._stop,
    };
    const worker = new Worker(new URL('session-worker.js', import.meta.url), {
      workerData: task,
      name: 'signal session',
      env: SHARE_ENV,
    });
    this.done = new Promise((resolve, reject) => {
      const fail = (message: string) => reject(new SessionError(message));
      worker.on('message', (message: SessionMessage) => {
        if (message.kind === 'row') options.onRow(message);
        else if (message.kind === 'done') resolve(message.end);
        else fail(message.message);
      });
      worker.on('error', (error) => fail(error.message));
      worker.on('exit', (code) => fail(`the sampling thread ended with code ${code}`));
    });
  }

  /** Asks for the end. */
  stop(): void {
    Atomics.store(this._stop, 0, 1);
    Atomics.notify(this._stop, 0);
  }
}
