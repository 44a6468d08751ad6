/** A recording's tables, opened when they are first asked for. */
import { existsSync } from 'node:fs';
import { type OpenRecording, openRecording } from '../query/index.ts';
import { ApiError } from './api/route.ts';
import { STATEMENT_SECONDS } from './net/limits.ts';

/** Milliseconds for which queries that run may go on after newer tables have taken over. */
const GRACE_MS = 60_000;

export class LateTables {
  private readonly path: string | (() => string);
  /** Milliseconds after which they are opened anew: what is written in the meantime is in them then. */
  private readonly lasts: number;
  private open: Promise<OpenRecording> | null = null;
  private opened = 0;

  /** `path`: of a recording, or what tells it when it is needed. */
  constructor(path: string | (() => string), lasts = Number.POSITIVE_INFINITY) {
    this.path = path;
    this.lasts = lasts;
  }

  /** @throws ApiError, InputError */
  async get(): Promise<OpenRecording> {
    if (this.open !== null && performance.now() - this.opened > this.lasts) this.retire();
    if (this.open === null) {
      const path = typeof this.path === 'string' ? this.path : this.path();
      if (!existsSync(path))
        throw new ApiError(410, `${path} was removed while it was being shown`);
      const opening = opened(path, Number.isFinite(this.lasts));
      this.open = opening;
      this.opened = performance.now();
      // A failure is reported to the caller; the next one tries again.
      opening.catch(() => {
        if (this.open === opening) this.open = null;
      });
    }
    return this.open;
  }

  /** Closes them once what runs has had time to end. */
  retire(): void {
    const open = this.open;
    this.open = null;
    if (open === null) return;
    const close = () => void open.then((tables) => tables.close()).catch(() => {});
    setTimeout(close, GRACE_MS).unref();
  }

  async close(): Promise<void> {
    const open = await this.open?.catch(() => null);
    await open?.close();
  }
}

/** @param goesOn whether it is of a run that goes on, which may need all CPUs */
async function opened(path: string, goesOn: boolean): Promise<OpenRecording> {
  const { keyHelp } = await import('../node/types/index.ts');
  const spared = goesOn ? ({ isolated: 'background', threads: 1 } as const) : { isolated: true };
  return openRecording(path, { timeLimit: STATEMENT_SECONDS, ...spared, help: keyHelp() });
}
