/** The pid file of a daemon: locked while it runs, so that there is one daemon for a log. */
import { ftruncateSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { about, isFull, LogError } from './error.ts';
import { Lock } from './lock.ts';

export class PidFile {
  private readonly lock: Lock;

  /** @throws LogError if another daemon runs, or the file cannot be written */
  constructor(path: string) {
    this.lock = new Lock(path);
    if (!this.lock.try()) {
      const pid = readFileSync(path, 'utf8').trim() || 'unknown';
      throw new LogError(`${path}: a daemon is already running, with pid ${pid}`);
    }
    about(path, () => {
      ftruncateSync(this.lock.file);
      try {
        writeSync(this.lock.file, `${process.pid}\n`, 0);
      } catch (error) {
        // The lock is held even so; a daemon that is refused just cannot name the process.
        if (!isFull(error)) throw error;
      }
    });
  }

  /** Removes it. */
  close(): void {
    try {
      unlinkSync(this.lock.path);
    } catch {
      // Somebody else has removed it.
    }
    this.lock.close();
  }
}
