/** Gathers files that the archive received completely, and reads them into its job index in a thread of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startThread } from '../os/thread.ts';
import { JOB_INDEX } from '../query/job-tables.ts';
import type { IndexTask } from './index-worker.ts';

/** Milliseconds for which files are gathered: all nodes begin their files at about the same time. */
const GATHERED_MS = 60_000;

/** Gathers files that are whole, and has them read into the index. */
export class Arrivals {
  private readonly folder: string;
  private readonly say: (line: string) => void;
  private readonly paths: string[] = [];
  private timer: NodeJS.Timeout | null = null;
  private under: Promise<void> = Promise.resolve();

  constructor(folder: string, say: (line: string) => void) {
    this.folder = folder;
    this.say = say;
  }

  /** @param path in the archive, such as `HOST/1380603606` */
  add(path: string): void {
    this.paths.push(path);
    this.timer ??= setTimeout(() => this.flush(), GATHERED_MS).unref();
  }

  /** Reads what was gathered, and waits for what is being read. */
  async close(): Promise<void> {
    this.flush();
    await this.under;
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.paths.length === 0) return;
    const task: IndexTask = { folder: this.folder, paths: this.paths.splice(0) };
    this.under = this.under.then(() => this.read(task));
  }

  private async read(task: IndexTask): Promise<void> {
    const index = join(this.folder, JOB_INDEX);
    if (!existsSync(index)) return;
    try {
      const script = new URL('index-worker.js', import.meta.url);
      await startThread(script, { workerData: task, name: 'job index' }).done;
    } catch (error) {
      this.say(`${index}: will be updated by the next query: ${(error as Error).message}`);
    }
  }
}
