/** One thing that a server shows: a recording, a run that becomes one, or files that grow. */
import { existsSync, statSync } from 'node:fs';
import { indexPath } from '../findings/job/index.ts';
import type { OpenRecording as OpenTables } from '../query/index.ts';
import { sourcesOf } from '../query/sources.ts';
import type { PageFacts } from '../view/facts/run.ts';
import type { ServedFacts } from '../view/facts/served.ts';
import { LiveStore } from '../view/series/live-store.ts';
import { SeriesStore } from '../view/series/store.ts';
import { ApiError } from './api/route.ts';
import { type Follower, LiveBus } from './bus.ts';
import { archivesIn, factsOfJobs, hasJobIndex, largeArchive } from './jobs-shown.ts';
import { KeptRun } from './kept-run.ts';
import { LateTables } from './late-tables.ts';
import { type OpenSeries, openSeries } from './recording-source.ts';
import type { Shown } from './shown.ts';
import { LiveRollbacks } from './simulation/live-rollbacks.ts';
import { RecordingTail } from './tail.ts';

/** Milliseconds between checks for data appended to a recording that is being written. */
const TAIL_PERIOD_MS = 100;
/** Milliseconds between checks whether files have changed. */
const LOOK_PERIOD_MS = 1000;
/** A recording to which nothing was written for so many milliseconds is not followed any more. */
const SILENCE_MS = 30_000;
/** At most one part in so many of the time is spent reading files again. */
const REREAD_SHARE = 5;
/** Milliseconds for which results computed from a run's samples are reused. */
const LIVE_MOMENT_MS = 500;
/** Milliseconds for which tables of a running run are reused. */
const LIVE_TABLES_MS = 5000;

interface ExhibitFollower extends Pick<Follower, 'frame' | 'wants'> {
  facts(facts: ServedFacts): void;
}

/** Files that are looked at. @param index of an archive of which that is enough */
function filesBehind(path: string, index: string | null): string[] {
  if (index !== null) return [index];
  const { files, notes } = sourcesOf(path);
  return [...files.map((file) => file.path), ...(notes.path === null ? [] : [notes.path])];
}

/** Sizes and times of all files: if they differ, so do the data. Null if there are no files any more. */
function signatureOf(path: string, index: string | null): string | null {
  if (!existsSync(path)) return null;
  try {
    return filesBehind(path, index)
      .map((file) => {
        const { ino, size, mtimeMs } = statSync(file);
        return `${file} ${ino} ${size} ${mtimeMs}`;
      })
      .join('\n');
  } catch {
    // Removed during the check, or being written: the next check will find out.
    return existsSync(path) ? '' : null;
  }
}

const newestOf = (signature: string): number =>
  Math.max(
    0,
    ...signature.split('\n').map((line) => Number(line.slice(line.lastIndexOf(' ') + 1))),
  );

/** Whether files that have changed are longer, and no others came or went. */
function isLonger(before: string, now: string): boolean {
  const [old, files] = [before, now].map((text) => text.split('\n'));
  const partsOf = (line: string) => /^(.* \d+) (\d+) [\d.]+$/.exec(line) ?? ['', '', '0'];
  return (
    old.length === files.length &&
    old.every((line, k) => {
      const [[, a, from], [, b, to]] = [partsOf(line), partsOf(files[k])];
      return line === files[k] || (a === b && Number(to) > Number(from));
    })
  );
}

/** The exhibit of an id; the first where it is null, null where there is none. */
export type Find = (id: string | null) => Exhibit | null;

export class Exhibit {
  readonly id: string;
  private readonly path: string | null;
  private readonly listeners = new Set<ExhibitFollower>();
  private readonly timers: NodeJS.Timeout[] = [];
  private bus: LiveBus | null;
  private tail: RecordingTail | null = null;
  /** When something was last written to a recording that is followed. */
  private written = 0;
  private live: Shown | null = null;
  private liveSince = 0;
  /** Of a run that nobody records. */
  private kept: KeptRun | null = null;
  /** With the zero that its times count from. */
  private liveStore: { readonly live: LiveStore; readonly zero: string; stop(): void } | null =
    null;
  /** Once a client has asked for them. */
  private liveRollbacks: LiveRollbacks | null = null;
  private readonly liveTables: LateTables;
  private recorded: Promise<Shown> | null = null;
  /** What `recorded` is of. */
  private opened: OpenSeries | null = null;
  private tables: LateTables | null = null;
  private signature: string | null = '';
  private revision = 0;
  /** Milliseconds that reading took, and when it ended. */
  private reading = { took: 0, ended: 0 };
  private gone = false;
  /** Tables of which pages were told. */
  private known: OpenTables | null = null;
  private more: Partial<PageFacts> = {};
  private seen = false;
  /** Of a large archive, whose jobs alone are shown; null: all is. */
  private readonly index: string | null;

  private constructor(id: string, bus: LiveBus | null, path: string | null) {
    this.id = id;
    this.bus = bus;
    this.path = path;
    const archive = path === null || bus !== null ? null : largeArchive(path);
    this.index = archive === null ? null : indexPath(archive);
    this.liveTables = new LateTables(path ?? (() => this.keptRun().path), LIVE_TABLES_MS);
  }

  /** @throws InputError where there is nothing to show */
  static async open(id: string, bus: LiveBus | null, path: string | null): Promise<Exhibit> {
    const one = new Exhibit(id, bus, path);
    if (path !== null && bus === null) one.begin(path);
    if (path !== null) one.every(LOOK_PERIOD_MS, () => one.look(path));
    await one.now();
    return one;
  }

  /** Frames that followers had no room for. */
  get skipped(): number {
    return this.bus?.skipped ?? 0;
  }

  private get isLive(): boolean {
    return this.bus !== null && (this.path === null || this.bus.facts.state === 'running');
  }

  /** @throws InputError, ApiError */
  async now(): Promise<Shown> {
    if (this.isLive) return this.shownLive();
    if (this.path === null) throw new ApiError(404, 'there is no run and no recording to show');
    this.recorded ??= this.read(this.path, this.revision + 1);
    const shown = await this.recorded;
    return this.gone && !shown.gone ? this.shownGone(shown) : shown;
  }

  /** Sends the facts, now and when they change, and samples if they arrive live. */
  follow(follower: ExhibitFollower): () => void {
    this.listeners.add(follower);
    const tell = () => void this.tell(follower);
    // Before its samples, which need its zero.
    if (this.isLive) follower.facts(servedFacts(this.shownLive()));
    else tell();
    const stop = this.bus?.follow({
      frame: (...frame) => follower.frame(...frame),
      wants: (table) => follower.wants?.(table) ?? true,
      facts: (() => {
        // The first is told above.
        let first = true;
        return () => {
          if (!first) tell();
          first = false;
        };
      })(),
    });
    return () => {
      this.listeners.delete(follower);
      stop?.();
    };
  }

  /** Says more than is recorded. */
  update(facts: Partial<PageFacts>): void {
    this.more = { ...this.more, ...facts };
    this.live = null;
    const told = (shown: Shown): Shown => ({ ...shown, facts: { ...shown.facts, ...facts } });
    if (this.recorded !== null) this.recorded = this.recorded.then(told);
    for (const follower of this.listeners) void this.tell(follower);
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.tail?.close();
    await this.liveTables.close();
    await this.tables?.close();
    this.opened?.close();
    this.kept?.close();
    this.liveRollbacks?.close();
  }

  private async tell(follower: ExhibitFollower): Promise<void> {
    try {
      follower.facts(servedFacts(await this.now()));
    } catch {
      // It cannot be read now: requests get the reason.
    }
  }

  private every(period: number, work: () => void): void {
    const timer = setInterval(work, period);
    timer.unref();
    this.timers.push(timer);
  }

  /** Follows a recording that another process writes at present. @throws InputError */
  private begin(path: string): void {
    this.seen = true;
    this.signature = signatureOf(path, this.index);
    if (this.index !== null) return;
    const { recording, name } = sourcesOf(path);
    if (recording?.state !== 'running') return;
    if (Date.now() - newestOf(this.signature ?? '') > SILENCE_MS) return;
    const bus = new LiveBus({ title: name });
    const tail = new RecordingTail(path, name, bus);
    tail.look();
    // All that is there before anybody follows: it comes to them as the past, which nobody is too slow for.
    while (tail.poll()) {}
    this.bus = bus;
    this.tail = tail;
    this.written = performance.now();
    this.every(TAIL_PERIOD_MS, () => {
      if (this.tail === null) return;
      try {
        if (tail.poll()) this.written = performance.now();
      } catch (error) {
        this.endTail(`it cannot be followed: ${(error as Error).message}`);
      }
    });
  }

  private endTail(why: string | null): void {
    const bus = this.bus;
    this.tail?.close();
    this.tail = null;
    this.bus = null;
    if (bus !== null && why !== null) bus.update({ notes: [...bus.facts.notes, why] });
    for (const follower of this.listeners) void this.tell(follower);
  }

  /** Whether files are still there, and the same. */
  private look(path: string): void {
    const gone = !existsSync(path);
    // A run's recording may begin after its page.
    if (gone && !this.seen) return;
    this.seen = true;
    if (gone !== this.gone) {
      this.gone = gone;
      this.live = null;
      for (const follower of this.listeners) void this.tell(follower);
    }
    if (gone) return;
    if (this.tail !== null) this.lookAtTail(this.tail);
    else if (!this.isLive) this.lookAtFiles(path);
  }

  private lookAtTail(tail: RecordingTail): void {
    try {
      tail.look();
      if (this.bus?.facts.state !== 'running') this.endTail(null);
      else if (performance.now() - this.written > SILENCE_MS)
        this.endTail('nothing is written to it');
    } catch {
      // Perhaps it is being replaced at this moment: the next check will find out.
    }
  }

  private lookAtFiles(path: string): void {
    if (this.recorded === null) return;
    const { took, ended } = this.reading;
    if (performance.now() - ended < REREAD_SHARE * took) return;
    const signature = signatureOf(path, this.index);
    if (signature === null || signature === '' || signature === this.signature) return;
    const revision = this.revision + 1;
    void this.read(path, revision).then(
      (shown) => {
        this.recorded = Promise.resolve(shown);
        for (const follower of this.listeners) void this.tell(follower);
      },
      // Half written: the data read before stay.
      () => {},
    );
  }

  private async read(path: string, revision: number): Promise<Shown> {
    if (!existsSync(path) && revision > 1) {
      throw new ApiError(410, `${path} was removed while it was being shown`);
    }
    const begun = performance.now();
    // Before reading: what is written meanwhile is read the next time.
    const [before, now] = [this.signature ?? '', signatureOf(path, this.index)];
    this.signature = now;
    this.reading = { took: 0, ended: Number.POSITIVE_INFINITY };
    let facts: PageFacts;
    let store = new SeriesStore();
    try {
      const archive = this.index === null ? null : largeArchive(path);
      if (archive !== null) facts = await factsOfJobs(archive);
      else ({ facts, store } = await this.openAll(path, before, now ?? ''));
    } finally {
      const ended = performance.now();
      this.reading = { took: ended - begun, ended };
    }
    this.tables?.retire();
    const tables = new LateTables(this.index ?? path);
    this.tables = tables;
    this.revision = revision;
    const sql = () => tables.get();
    return {
      ...{ id: this.id, path, live: false, revision, gone: false, store, rollbacks: null, sql },
      facts: { ...facts, ...this.more },
    };
  }

  /** Reads all files, or what was appended to them since their signature was `before`. */
  private async openAll(path: string, before: string, now: string): Promise<OpenSeries> {
    const { opened } = this;
    if (opened !== null && isLonger(before, now) && opened.grow()) return opened;
    const anew = await openSeries(path);
    opened?.close();
    this.opened = anew;
    return anew;
  }

  private shownGone(shown: Shown): Shown {
    const notes = [
      `${shown.path} was removed: what was read before is shown`,
      ...shown.facts.notes,
    ];
    const told = { ...shown, gone: true, facts: { ...shown.facts, notes } };
    this.recorded = Promise.resolve(told);
    return told;
  }

  /** The same object for a moment, as long as what is said of the run is the same. */
  private shownLive(): Shown {
    const bus = this.bus as LiveBus;
    const { facts } = bus;
    const now = performance.now();
    if (this.live?.facts === facts && now - this.liveSince < LIVE_MOMENT_MS) return this.live;
    this.liveSince = now;
    const store = () => this.followed();
    this.live = {
      ...{ id: this.id, path: this.path, facts, live: true, revision: 0, gone: this.gone },
      get store() {
        return store();
      },
      rollbacks: () => {
        this.liveRollbacks ??= new LiveRollbacks(bus);
        return this.liveRollbacks.get();
      },
      sql: () => this.liveSql(),
    };
    return this.live;
  }

  private keptRun(): KeptRun {
    this.kept ??= new KeptRun(this.bus as LiveBus);
    return this.kept;
  }

  /** Also tells pages which tables there are by now. */
  private async liveSql(): Promise<OpenTables> {
    const open = await this.liveTables.get();
    if (open === this.known) return open;
    this.known = open;
    const names = await open.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY name`,
    );
    const tables = names.map(({ name }) => name);
    const bus = this.bus;
    if (bus !== null && tables.join() !== bus.facts.tables?.join()) bus.update({ tables });
    return open;
  }

  /** The newest samples, also kept here once a client asks this server for them. */
  private followed(): SeriesStore {
    const bus = this.bus as LiveBus;
    const { zero } = bus.facts;
    if (this.liveStore?.zero === zero) return this.liveStore.live.store;
    this.liveStore?.stop();
    const live = new LiveStore();
    live.zero = Number(BigInt(zero) / 1000n) / 1e6;
    const stop = bus.follow({
      facts: () => {},
      frame: (...frame) => {
        const [stream, bytes, , left] = frame;
        live.take(stream, bytes, left);
        return true;
      },
    });
    this.liveStore = { live, zero, stop };
    return live.store;
  }
}

export const servedFacts = (shown: Shown): ServedFacts => {
  const { id, facts, live, revision, gone } = shown;
  const path = (shown.of ?? shown).path;
  const isCluster = path !== null && !live && archivesIn(path).some(hasJobIndex);
  return { ...facts, ...{ id, live, revision, gone }, ...(isCluster && { cluster: true }) };
};
