/**
 * The job index of an archive that is shown, open from one question to the next. Small archives are looked through for newer files
 * before each answer. To look through tens of thousands takes a second: that is done when nobody has asked for a moment,
 * and before an answer only where the last look is long ago.
 */
import { existsSync } from 'node:fs';
import {
  type AccountedJob,
  indexPath,
  type KeptJobs,
  openArchive,
  openJobs,
} from '../findings/job/index.ts';

/** Files that are looked through at once. */
const FEW = 500;
/** Milliseconds without a question, after which there is time to look. */
const PAUSE_MS = 1000;
/** Milliseconds after which a look is old, and after which an answer must not be given by it. */
const [OLD_MS, TOO_OLD_MS] = [5000, 60_000];

/** An open index, closed when nobody asks it and another one has come. */
interface Held {
  readonly jobs: KeptJobs | null;
  readonly files: number;
  readonly looked: number;
  asking: number;
  replaced: boolean;
}

export class OpenIndex {
  private readonly path: string;
  private readonly accounted: readonly AccountedJob[] | null;
  private held: Held | null = null;
  private looking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  /** @param accounted takes the place of what the index has; null: that stays */
  constructor(path: string, accounted: readonly AccountedJob[] | null) {
    this.path = path;
    this.accounted = accounted;
  }

  /** What it answers; null where the archive has none, or none that can be used. */
  async ask<T>(question: (jobs: KeptJobs) => Promise<T>): Promise<T | null> {
    if (!existsSync(indexPath({ path: this.path, files: [], skipped: [] }))) return null;
    const age =
      this.held === null ? Number.POSITIVE_INFINITY : performance.now() - this.held.looked;
    if (this.held === null || this.held.files <= FEW || age > TOO_OLD_MS) await this.look();
    else if (age > OLD_MS) this.lookLater();
    const { held } = this;
    if (held === null || held.jobs === null) return null;
    held.asking++;
    try {
      return await question(held.jobs);
    } finally {
      held.asking--;
      if (held.replaced && held.asking === 0) held.jobs.close();
    }
  }

  private look(): Promise<void> {
    this.looking ??= this.open().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  private lookLater(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look().catch(() => {}), PAUSE_MS).unref();
  }

  private async open(): Promise<void> {
    const archive = openArchive(this.path);
    const { jobs } = await openJobs(archive, this.accounted);
    const old = this.held;
    const files = archive.files.length;
    this.held = { jobs, files, looked: performance.now(), asking: 0, replaced: false };
    if (old === null) return;
    old.replaced = true;
    if (old.asking === 0) old.jobs?.close();
  }
}
