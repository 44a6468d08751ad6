/**
 * The application's processes: those that make a region page in the run's folder. They appear at any time, fork
 * and vanish. The controller keeps their pages until the end, so that nothing of what they wrote is lost.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import { PAGE_SUFFIX, THREAD_LIVE } from '../../model/region-layout.ts';
import { isAlive } from '../../os/alive.ts';
import type { EpochFinder, RecordFilter } from '../filters/index.ts';
import { PageError } from '../page-error.ts';
import { PageReader } from '../page-reader.ts';
import type { PageSnapshot } from '../page-snapshot.ts';

/** ms between two looks into the folder; and where a watcher reports its changes. */
const RESCAN_MS = 100;
const RESCAN_WATCHED_MS = 1000;
/** ms between two checks whether a process still lives. */
const ASK_MS = 50;
/** A file that is not a page after so many scans is given up. */
const MOST_TRIES = 50;
const UNKNOWN_HINT = 1;

/** One process. Times in ns of CLOCK_MONOTONIC, as a double: exact to a µs in 285 years of uptime. */
export class ApplicationProcess {
  readonly page: PageReader;
  /** What is at the head of the page's times. */
  readonly zero: number;
  started: number;
  /** NaN while it runs. */
  ended = Number.NaN;
  /** Whether it recorded its own end. */
  stopped = false;
  /** Whether it has been replaced by another program through exec. */
  replaced = false;
  /** The region in which all its threads that are inside a region are. */
  hash = HASH_UNMARKED;
  hint = 0;
  /** Work done of the work announced, 0 to 1; NaN where none was announced. */
  progress = Number.NaN;
  /** Epochs of its own, or found by a record filter. */
  epochs = 0;
  /** Same clock; NaN before the first. */
  firstEpoch = Number.NaN;
  /** Epochs found by a record filter; those that the process marked are then ignored. */
  readonly finder: EpochFinder | null;
  /** Whether its start is in the profile trace. */
  announced = false;
  /** What it had marked before sampling began, and the time of that, in s since the page's zero; null: nothing. */
  before: { readonly snapshot: PageSnapshot; readonly time: number } | null = null;
  private epochsBefore = 0;
  /** Kept after it has ended. */
  private final: PageSnapshot | null = null;

  constructor(page: PageReader, finder: EpochFinder | null) {
    this.page = page;
    this.zero = Number(page.startNs);
    this.started = this.zero;
    this.finder = finder;
  }

  get alive(): boolean {
    return Number.isNaN(this.ended);
  }

  poll(): void {
    const { page } = this;
    page.poll();
    if (page.started !== null && this.before === null) {
      this.started = this.zero + page.started * 1e9;
    }
    if (page.stopped !== null && !this.stopped) {
      this.stopped = true;
      this.ended = this.zero + page.stopped * 1e9;
    }
    const epochs = page.epochs - this.epochsBefore;
    if (this.finder === null && epochs > 0) {
      if (this.epochsBefore === 0) this.firstEpoch = this.zero + page.firstEpoch * 1e9;
      // The page has the times of the first and the last epoch. If it is read often enough, the last one is the first since sampling began.
      else if (this.epochs === 0) this.firstEpoch = this.zero + page.lastEpoch * 1e9;
      this.epochs = epochs;
    }
    this.locate();
  }

  /** It ran before it was sampled: what it marked until now is not counted. @param now ns of CLOCK_MONOTONIC */
  beginAt(now: number): void {
    const { page } = this;
    page.poll();
    this.before = { snapshot: page.snapshot(), time: (now - this.zero) / 1e9 };
    this.epochsBefore = page.epochs;
    this.started = now;
  }

  /** Threads outside all regions are ignored, so that an idle pool does not hide the others. */
  private locate(): void {
    const { page } = this;
    let [hash, hint, total, done] = [HASH_UNMARKED, 0, 0, 0];
    let inside = 0;
    for (let t = 0; t < page.threads; t++) {
      if (page.works[t]) {
        total = Math.max(total, page.workTotal[t]);
        done += page.workDone[t];
      }
      if (page.state[t] !== THREAD_LIVE || page.depth[t] === 0) continue;
      const own = page.hash[t] === 0 ? HASH_UNMARKED : page.hash[t];
      hash = inside === 0 || own === hash ? own : HASH_UNMARKED;
      hint = inside === 0 || page.hint[t] === hint ? page.hint[t] : UNKNOWN_HINT;
      inside++;
    }
    this.hash = hash;
    this.hint = hint;
    this.progress = total === 0 || inside === 0 ? Number.NaN : Math.min(1, done / total);
  }

  /** State of its simulation: see simulator.ts. */
  get gvt(): number {
    return this.alive ? this.page.gvt : Number.NaN;
  }

  get counts(): Float64Array {
    return this.page.counts;
  }

  /** Makes it appear outside all regions. */
  outside(): void {
    this.hash = HASH_UNMARKED;
    this.hint = 0;
    this.progress = Number.NaN;
  }

  /** Everything that it wrote. */
  snapshot(): PageSnapshot {
    return this.final ?? this.page.snapshot();
  }

  /** The process has ended: closes its page. */
  end(): void {
    this.outside();
    this.final ??= this.page.snapshot();
    this.page.close();
  }
}

/** Whether a process has been replaced by another program since it made its page, whose name is PID-STARTTIME-STACK. */
function isReplaced({ path, pid }: PageReader): boolean {
  const [, start, stack] = basename(path, PAGE_SUFFIX).split('-');
  if (stack === undefined || stack === '0') return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The first is field 3. For processes of other users the stack is 0.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[25] !== '0' && (fields[19] !== start || fields[25] !== stack);
  } catch {
    return false;
  }
}

export class ProcessTable {
  /** In the order in which they were found. */
  readonly all: ApplicationProcess[] = [];
  /** Those that have not ended. The array is replaced when they change. */
  active: readonly ApplicationProcess[] = [];
  /** Files that are not pages, with the reason. */
  readonly refused = new Map<string, string>();
  private readonly folder: string;
  private readonly filter: RecordFilter | null;
  private readonly last: (process: ApplicationProcess) => void;
  private readonly known = new Set<string>();
  private readonly tries = new Map<string, number>();
  /** When sampling began, in ns of CLOCK_MONOTONIC. The totals of a process that ran before begin when it is found. */
  since = 0;
  /** Whether the caller calls a thorough `poll` when the folder has changed. */
  watched = false;
  private scanned = Number.NEGATIVE_INFINITY;
  private asked = Number.NEGATIVE_INFINITY;
  private turn = 0;
  /** When the application's last process ended, as long as none runs. */
  private paused = Number.NEGATIVE_INFINITY;

  /** @param last is called with each process that has ended, before its page is closed */
  constructor(
    folder: string,
    last: (process: ApplicationProcess) => void = () => {},
    filter: RecordFilter | null = null,
  ) {
    this.folder = folder;
    this.filter = filter;
    this.last = last;
  }

  /**
   * Finds new processes, updates the state of all, and drops those that have ended.
   * @param now ns of CLOCK_MONOTONIC
   * @param thorough checks everything again, even shortly after the last time
   * @returns whether the set of active processes has changed
   */
  poll(now: number, thorough = false): boolean {
    const before = this.all.length;
    this.scan(now, thorough);
    let changed = this.all.length !== before;
    if (changed) this.active = [...this.active, ...this.all.slice(before)];
    const ask = thorough || now - this.asked > ASK_MS * 1e6;
    if (ask) this.asked = now;
    const { active } = this;
    for (let k = 0; k < active.length; k++) {
      const process = active[k];
      // Checked first, so that everything which it wrote before its end is read afterwards.
      const gone = ask && !isAlive(process.page.pid);
      // Each check reads a file: with many processes, one is checked per poll.
      const isTurn = ask && (active.length <= 8 || k === this.turn % active.length);
      // A process that announced an exec may be replaced at any moment, so it is checked each time.
      const looked = isTurn || process.page.leaving !== null;
      if (looked && !gone && isReplaced(process.page)) process.replaced = true;
      process.poll();
      if (!gone && !process.stopped && !process.replaced) continue;
      this.end(process, now);
      changed = true;
    }
    if (ask) this.turn++;
    if (changed) this.active = this.all.filter((process) => process.alive);
    return changed;
  }

  private scan(now: number, thorough: boolean): void {
    const rest = this.watched ? RESCAN_WATCHED_MS : RESCAN_MS;
    if (!thorough && now - this.scanned < rest * 1e6) return;
    this.scanned = now;
    for (const name of this.names()) {
      if (!name.endsWith(PAGE_SUFFIX) || this.known.has(name)) continue;
      try {
        const page = new PageReader(join(this.folder, name));
        const process = new ApplicationProcess(page, this.filter?.() ?? null);
        const isOld = Number(page.startNs) < this.since;
        if (isOld && !isAlive(page.pid)) {
          // Left by a process that ended before sampling began.
          page.close();
          this.known.add(name);
          continue;
        }
        if (isOld) process.beginAt(now);
        this.replace(page);
        this.all.push(process);
        this.known.add(name);
        this.refused.delete(name);
      } catch (error) {
        if (!(error instanceof PageError)) throw error;
        this.retry(name, error.message);
      }
    }
  }

  /** A second page of a process: the program that made the first ended when this one began. */
  private replace({ pid, startNs }: PageReader): void {
    const before = this.active.find((process) => process.page.pid === pid && !process.stopped);
    if (before === undefined || !isReplaced(before.page)) return;
    before.replaced = true;
    before.ended = Number(startNs);
  }

  private names(): string[] {
    try {
      return readdirSync(this.folder);
    } catch {
      return [];
    }
  }

  /** A page is created in several steps, so a file that is not a page yet may become one. */
  private retry(name: string, message: string): void {
    const tries = (this.tries.get(name) ?? 0) + 1;
    this.tries.set(name, tries);
    this.refused.set(name, message);
    if (tries >= MOST_TRIES) this.known.add(name);
    // It is tried again at the next poll.
    this.scanned = Number.NEGATIVE_INFINITY;
  }

  private end(process: ApplicationProcess, now: number): void {
    const { page } = process;
    if (!process.stopped && page.leaving !== null) {
      process.ended = process.zero + page.leaving * 1e9;
      process.replaced = true;
    }
    if (process.alive) process.ended = now;
    this.last(process);
    process.end();
  }

  /** `now`, or the latest beginning or end of a process if that is later. */
  latest(now: number): number {
    return this.all.reduce((at, one) => Math.max(at, one.alive ? one.started : one.ended), now);
  }

  /** The end of the last process, if none of the `active` ones was running then; NaN if that was already returned. */
  pausedSince(active: readonly ApplicationProcess[]): number {
    let ended = Number.NEGATIVE_INFINITY;
    for (const process of this.all) if (!process.alive) ended = Math.max(ended, process.ended);
    const isNew = ended > this.paused && active.every(({ started }) => started >= ended);
    if (!isNew) return Number.NaN;
    this.paused = ended;
    return ended;
  }

  close(now: number): void {
    for (const process of this.active) this.end(process, now);
    this.active = [];
  }
}
