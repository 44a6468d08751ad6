/**
 * Samples at regular times until it is told to stop: into a log, and to sinks.
 *
 * One is taken at the start, then they are due when the clock is at whole multiples of the period, so that those of all
 * nodes are of one moment; those whose moment passes while another is taken are left out. Between them it looks, once a
 * second, whether the job-id file has changed: a job that is gone ends with a sample of its own, marked `end JOB`, and one
 * that is new begins with one.
 */
import { statSync } from 'node:fs';
import type { GroupSink } from './group-sink.ts';
import { idsIn, type JobSources, jobsIn, jobsNow } from './jobs.ts';
import { Backlog } from './log/backlog.ts';
import { LogError, reasonOf } from './log/error.ts';
import type { LogGroup, NodeLog } from './log/log.ts';
import { endMissed } from './missed-ends.ts';
import type { Programming } from './programming.ts';
import type { Sampling } from './sampling.ts';
import { Troubles } from './troubles.ts';
import { BETWEEN_MS } from './types/type.ts';

interface DaemonSettings {
  /** Seconds between samples. */
  readonly freq: number;
  /** The same while no job runs; `freq` where that is longer, or this is not given. */
  readonly idle?: number;
  /** Groups that are kept in memory where they cannot be written. */
  readonly buffer: number;
}

/** What a daemon samples, how often (seconds), where its groups go, and where it reads which jobs run. */
export interface DaemonOptions extends DaemonSettings {
  /** Opens the types: at the start, at rotation and at `reload`, as what a machine has may change. */
  readonly open: () => Sampling;
  /** Null: groups go to the sinks alone. */
  readonly log: NodeLog | null;
  /** Each receives every group's bytes. */
  readonly sinks: readonly GroupSink[];
  /** Where the daemon learns which jobs run. */
  readonly jobs: JobSources;
  /**
   * Programs counters at the start, and restores them at the end; null: counters are not programmed.
   */
  readonly pmc: Programming | null;
  /** Seconds after which the log's file is closed and a new one begun. */
  readonly rotate: number;
  /** Whether rotation is marked `rotate -`, as since version 2. */
  readonly marksRotation: boolean;
  /** Number of samples at regular times after which it stops; Infinity: it never does. */
  readonly count: number;
  /** Called with one line when something goes wrong, and when it works again. */
  readonly say: (line: string) => void;
}

/** What a daemon did. */
export interface DaemonResult {
  /** Record groups: at regular times, at begin and end of jobs, the last one. */
  readonly groups: number;
  /** Number of moments at which no sample was taken because an earlier one was still under way. */
  readonly missed: number;
  /** Groups that were lost: not written before the end, or dropped to make room for later ones. */
  readonly lost: number;
  /** Groups that the log lacks for the same reasons, and a sink that keeps groups, such as a broker's, has. */
  readonly unlogged: number;
}

/** Milliseconds between looks at the job-id file. */
const LOOK_MS = 1000;

/** A file that may change, be replaced, come and go. */
class Watched {
  private readonly path: string | null;
  private stamp = '';

  constructor(path: string | null) {
    this.path = path;
    this.changed();
  }

  /** Whether the file has changed since the last call. */
  changed(): boolean {
    if (this.path === null) return false;
    const before = this.stamp;
    const stat = statSync(this.path, { throwIfNoEntry: false });
    this.stamp = stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
    return this.stamp !== before;
  }
}

/**
 * Samples a machine at regular times until it is stopped, and gives each group to its log and its sinks.
 * @example
 * ```ts
 * import { Daemon, JOBID_FILE, NodeLog, Sampling } from 'triscope/node';
 *
 * const daemon = new Daemon({
 *   open: () => new Sampling({}),
 *   log: new NodeLog('/var/log/triscope'),
 *   sinks: [],
 *   jobs: { list: null, file: JOBID_FILE },
 *   pmc: null,
 *   freq: 600, // seconds
 *   buffer: 300,
 *   rotate: 86400, // seconds
 *   marksRotation: false,
 *   count: Infinity,
 *   say: (line) => console.error(line),
 * });
 * process.once('SIGTERM', () => daemon.stop());
 * const { groups, missed, lost } = await daemon.run();
 * ```
 */
export class Daemon {
  private readonly options: DaemonOptions;
  /** When narrow counters were read last, in milliseconds of `performance.now`. */
  private between = 0;
  private readonly backlog: Backlog;
  private readonly troubles: Troubles;
  private freq: number;
  /** Milliseconds between samples, as of now. */
  private period: number;
  private programmed = false;
  private sampling: Sampling;
  /** Whether the next group for the sinks needs its header. */
  private fresh = true;
  /** Jobs of the job-id file, and of the list. */
  private jobs: readonly string[];
  private listed: readonly string[];
  private readonly watchedFile: Watched;
  private rotated = Date.now() / 1000;
  private groups = 0;
  private missed = 0;
  private stopped = false;
  private wake: () => void = () => {};
  /** The moment, in milliseconds of `performance.now`, and the number of the next sample. */
  private start = 0;
  private tick = 0;

  /** @throws whatever `open` throws */
  constructor(options: DaemonOptions) {
    this.options = options;
    this.freq = options.freq;
    this.backlog = new Backlog(options.buffer);
    this.troubles = new Troubles(options.say);
    this.sampling = options.open();
    const { file, list } = options.jobs;
    this.watchedFile = new Watched(file);
    this.makeList();
    this.jobs = jobsIn(file);
    this.listed = list?.read() ?? [];
    this.period = this.periodNow();
  }

  /** Makes the list's folder: later the disk may be full. */
  private makeList(): void {
    const { list } = this.options.jobs;
    try {
      list?.make();
    } catch (error) {
      this.troubles.about('the list of jobs', reasonOf(error));
    }
  }

  /** Name of the host that is sampled. */
  get host(): string {
    return this.sampling.host;
  }

  /**
   * Samples until `stop` is called, then once more; or until `count` samples are taken.
   * @throws the errors of the log or list of jobs if they cannot be used at all; other faults are reported by `say`
   */
  async run(): Promise<DaemonResult> {
    this.align();
    for (let taken = 0; taken < this.options.count; ) {
      if (this.stopped) {
        this.sample();
        break;
      }
      const due = this.start + this.tick * this.period;
      const wait = due - performance.now();
      if (wait > 0) {
        await this.sleep(Math.min(wait, LOOK_MS));
        this.readBetween();
        if (!this.stopped) this.look();
        continue;
      }
      this.periodic();
      taken++;
      this.next();
    }
    return await this.end();
  }

  /** Counts periods from the last moment at which the clock was at a multiple of it: the clock may be set later. */
  private align(): void {
    this.start = performance.now() - (Date.now() % this.period);
  }

  /** Milliseconds between samples: longer while no job runs. */
  private periodNow(): number {
    const ids = [...this.jobs, ...this.listed, ...idsIn(process.env.SLURM_JOB_ID ?? '')];
    return 1000 * (ids.length > 0 ? this.freq : Math.max(this.freq, this.options.idle ?? 0));
  }

  /** Changes to the present period: the next sample is due at its next multiple. */
  private keepPace(): void {
    const period = this.periodNow();
    if (period === this.period) return;
    this.period = period;
    this.align();
    this.tick = 1;
  }

  /**
   * Programs counters, if requested and not done yet, which fails while the disk is too full to save their previous
   * contents.
   */
  private program(): void {
    if (this.options.pmc === null || this.programmed) return;
    const { tree, types } = this.sampling.collection;
    try {
      this.options.pmc.begin(tree, types, process.pid);
      this.programmed = true;
      this.troubles.about('counters', null);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      this.troubles.about('counters', `${error.message}; they are programmed later`);
    }
  }

  private readBetween(): void {
    const now = performance.now();
    if (now - this.between < BETWEEN_MS) return;
    this.between = now;
    this.sampling.collection.between();
    if (this.sampling.isOver) this.reopen();
  }

  /** Asks it to end; `run` then takes a last sample. */
  stop(): void {
    this.stopped = true;
    this.wake();
  }

  /** Takes another period, and opens the types anew. */
  reload({ freq }: Pick<DaemonSettings, 'freq'>): void {
    this.freq = freq;
    this.keepPace();
    this.reopen();
    this.wake();
  }

  private sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private next(): void {
    this.tick++;
    const now = Math.floor((performance.now() - this.start) / this.period);
    if (now > this.tick) {
      this.missed += now - this.tick;
      this.tick = now;
    }
  }

  private periodic(): void {
    this.program();
    this.readBetween();
    const begun = this.options.log?.begun ?? this.rotated;
    const old = Date.now() / 1000 - begun >= this.options.rotate;
    if (!old) {
      this.sample();
      return;
    }
    this.rotated = Date.now() / 1000;
    this.reopen();
    this.sample(this.options.marksRotation ? 'rotate -' : undefined, true);
  }

  /** Looks for jobs that are gone, which end, and for new ones, which begin. */
  private look(): void {
    this.lookForJobs();
    this.keepPace();
  }

  private lookForJobs(): void {
    const { file, list } = this.options.jobs;
    if (this.watchedFile.changed()) {
      this.jobs = this.change(this.jobs, jobsIn(file), (mark, jobs) => {
        const { tree, types } = this.sampling.collection;
        if (mark.startsWith('begin ')) this.options.pmc?.arm(tree, types);
        this.sample(mark, false, jobs);
      });
    }
    this.listed = this.change(this.listed, list?.read() ?? [], (mark, jobs) => {
      // `begin` and `end` have written to the log themselves.
      if (this.options.sinks.length > 0) this.tellSinks(this.take(mark, jobs));
    });
  }

  /**
   * Takes the samples for jobs that ended or began, each with its jobs: a job's last sample still has its id.
   */
  private change(
    before: readonly string[],
    now: readonly string[],
    happened: (mark: string, jobs: readonly string[]) => void,
  ): readonly string[] {
    let jobs = before;
    for (const job of before) {
      if (now.includes(job)) continue;
      happened(`end ${job}`, jobs);
      jobs = jobs.filter((each) => each !== job);
    }
    for (const job of now) {
      if (jobs.includes(job)) continue;
      jobs = [...jobs, job];
      happened(`begin ${job}`, jobs);
    }
    return now;
  }

  private reopen(): void {
    const sampling = this.options.open();
    this.sampling.close();
    this.sampling = sampling;
    this.fresh = true;
  }

  private take(mark: string | undefined, jobs: readonly string[]): LogGroup {
    const sources = { say: this.options.say, ...this.options.jobs };
    const missed = endMissed(sources, this.sampling.collection.tree);
    this.listed = this.listed.filter((id) => !missed.includes(id));
    const listed = jobsNow(sources.list, jobs);
    const failed = new Map<string, string>();
    const group = this.sampling.take(listed, mark, ({ type, reason }) => failed.set(type, reason));
    for (const type of this.sampling.collection.types) {
      this.troubles.about(`no records of type ${type}`, failed.get(type) ?? null);
    }
    return group;
  }

  private sample(mark?: string, rotate = false, jobs = this.jobs): void {
    const group = this.write(mark, rotate, jobs);
    this.groups++;
    this.tellSinks(group);
  }

  private tellSinks(group: LogGroup): void {
    for (const sink of this.options.sinks) this.give(sink, group);
    this.fresh = false;
  }

  private write(mark: string | undefined, rotate: boolean, jobs: readonly string[]): LogGroup {
    const { log } = this.options;
    if (log === null) return this.take(mark, jobs);
    const { head } = this.sampling;
    let group: LogGroup | null = null;
    try {
      log.locked(() => {
        if (rotate) log.rotate();
        group = this.take(mark, jobs);
        this.backlog.append(log, head, group);
      });
      this.troubles.about('the log', null);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      if (group === null) {
        group = this.take(mark, jobs);
        this.backlog.keep(head, group);
      }
      const { length, dropped } = this.backlog;
      this.troubles.about(
        'the log',
        `${error.message}; samples are kept in memory, and written later`,
      );
      if (dropped > 0)
        this.troubles.about('memory for samples', `${length} are kept; older ones are lost`);
    }
    return group as unknown as LogGroup;
  }

  private give(sink: GroupSink, { bytes }: LogGroup): void {
    const { head, host } = this.sampling;
    const { missed, lost } = this;
    try {
      const whole = this.fresh ? Buffer.concat([head.bytes, bytes]) : bytes;
      sink.write(whole, { header: this.fresh, host, missed, lost, waiting: this.waiting });
      this.troubles.about(sink.name, null);
    } catch (error) {
      this.troubles.about(sink.name, reasonOf(error));
    }
  }

  private async end(): Promise<DaemonResult> {
    this.options.pmc?.end(this.sampling.collection.tree, process.pid);
    this.sampling.close();
    for (const sink of this.options.sinks) await sink.close();
    this.options.log?.close();
    const unwritten = this.backlog.dropped + this.backlog.length;
    const { groups, missed } = this;
    return this.isKeptElsewhere
      ? { groups, missed, lost: this.lost, unlogged: unwritten }
      : { groups, missed, lost: unwritten, unlogged: 0 };
  }

  /** Whether a sink keeps groups, too: what only the log lacks is not lost. */
  private get isKeptElsewhere(): boolean {
    return this.options.sinks.some(({ lost }) => lost !== undefined);
  }

  /** Groups that were dropped for good so far. */
  private get lost(): number {
    const { sinks } = this.options;
    return this.isKeptElsewhere
      ? sinks.reduce((sum, { lost = 0 }) => sum + lost, 0)
      : this.backlog.dropped;
  }

  /** Groups that wait for the log's disk, or in sinks. */
  private get waiting(): number {
    const { sinks } = this.options;
    return sinks.reduce((sum, { waiting = 0 }) => sum + waiting, this.backlog.length);
  }
}
