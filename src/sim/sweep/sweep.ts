/**
 * Runs a model for many settings, each with several seeds: sequential runs, several at once, each in a thread of its own.
 *
 * Replication r uses streams that no other replication uses, the same ones at each point (common random
 * numbers): values at one point are independent, and differences between points are less noisy.
 */
import { availableParallelism } from 'node:os';
import { OptionError } from '../../model/option.ts';
import { AnsweringThread } from '../../os/thread.ts';
import { withMend } from '../bundled.ts';
import { sourceOf } from '../checkpoint/identity.ts';
import { type LoadedModel, loadModel } from '../load-model.ts';
import { ModelError } from '../model.ts';
import { CORE_SEEDS, MODEL_SEEDS, type Seeds, seedStream } from '../rng/clcg4.ts';
import { configFor, type Settings } from '../settings.ts';
import { type MeanInterval, meanInterval, relativeWidth } from './interval.ts';
import { Journal, type JournalRun, shareFile } from './journal.ts';
import { type Measures, measuresOf, type SweepMeasure, valuesOf } from './measure.ts';
import type { RunReply } from './sweep-worker.ts';
import { type Point, pointsOf, settingsAt, type Vary } from './vary.ts';

/**
 * What is varied, how often each point is run (replications, with different seeds), and how narrow its intervals must be.
 */
export interface SweepOptions<N extends string = string, K extends string = string> {
  /** What is varied; a single point if omitted. */
  readonly vary?: readonly Vary<N>[];
  /** Runs of each point, with different seeds; with `untilWidth`, before the first look. Default 10. */
  readonly replications?: number;
  /** Adds runs, half as many again each time, until each interval's half-width is at most this share of its mean. */
  readonly untilWidth?: number;
  /** Maximum number of runs per point with `untilWidth`. Default 1000. */
  readonly mostReplications?: number;
  /** Probability with which an interval covers the true mean; default 0.95. */
  readonly confidence?: number;
  /** The measures of each run: `{ wait: 'wait.mean', present: 'area/time' }`. By default all totals and maxima. */
  readonly measures?: Measures<K>;
  /** Number of simultaneous runs; the number of CPUs by default. */
  readonly jobs?: number;
  /** File of the runs, one JSON object per line; runs in it are not repeated. */
  readonly file?: string;
  /** The share of an array job: every `of`-th run, from `index` on, in a file of its own. */
  readonly share?: { readonly index: number; readonly of: number };
  /** Ends the sweep; the result has the runs that were done. */
  readonly signal?: AbortSignal;
  /** Called after each run. @param known number of runs that are known, and that are needed so far */
  readonly onRun?: (run: JournalRun, known: number, wanted: number) => void;
}

/** One point of a sweep. */
export interface SweepPoint<N extends string = string, K extends string = string> {
  /** The value of each that is varied. */
  readonly point: Point<N>;
  /** How many runs it has. */
  readonly replications: number;
  /** Mean and interval of each measure, by its name. */
  readonly measures: Readonly<Record<K, MeanInterval>>;
}

/** Points with their means and confidence intervals, and the runs that they are from. */
export interface SweepResult<N extends string = string, K extends string = string> {
  /** Name of the model. */
  readonly model: string;
  /** Probability with which an interval covers the true mean. */
  readonly confidence: number;
  /** How the intervals are computed, in words. */
  readonly method: string;
  /** Every combination of the values that are varied. */
  readonly points: readonly SweepPoint<N, K>[];
  /** The runs that were done. */
  readonly runs: readonly JournalRun[];
  /** Whether all requested runs were done, and intervals are as narrow as requested. */
  readonly complete: boolean;
}

const METHOD = 'independent replications, Student’s t';

/** Streams of one replication: more than an LP needs each. */
const STREAMS = 2 ** 24;

function seedsOf(base: Seeds, replication: number): Seeds {
  const stream = new Float64Array(4);
  seedStream(stream, 0, base, replication * STREAMS);
  return [stream[0], stream[1], stream[2], stream[3]];
}

/** The settings of one run. */
export function settingsOf(settings: Settings, point: Point, replication: number): Settings {
  return {
    ...settingsAt(settings, point),
    synch: 'sequential',
    pes: 1,
    timing: false,
    seeds: seedsOf(settings.seeds ?? MODEL_SEEDS, replication),
    coreSeeds: seedsOf(settings.coreSeeds ?? CORE_SEEDS, replication),
  };
}

const WORKER = new URL('sweep-worker.js', import.meta.url);

/** Runs one setting at a time. */
type Runner = AnsweringThread<Settings, RunReply>;

/** A point under way. */
interface Progress {
  readonly point: Point;
  readonly runs: Map<number, JournalRun>;
  /** Replications that are needed so far, and those that have begun. */
  wanted: number;
  next: number;
}

const keyOf = (point: Point) => JSON.stringify(Object.entries(point).sort());

/** As `servers=3, lookahead=0.1`. */
export const shownPoint = (point: Point): string =>
  Object.entries(point)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** All runs of the sweep, and the results known so far. */
class Plan {
  readonly points: readonly Progress[];
  private readonly options: SweepOptions;
  private readonly confidence: number;
  private readonly measures: readonly SweepMeasure[];

  constructor(options: SweepOptions, known: readonly JournalRun[]) {
    this.options = options;
    this.confidence = options.confidence ?? 0.95;
    this.measures = measuresOf(options.measures);
    const byKey = new Map<string, Map<number, JournalRun>>();
    for (const run of known) {
      const key = keyOf(run.point);
      byKey.set(key, (byKey.get(key) ?? new Map()).set(run.replication, run));
    }
    this.points = pointsOf(options.vary ?? []).map((point) => ({
      point,
      runs: byKey.get(keyOf(point)) ?? new Map(),
      wanted: options.replications ?? 10,
      next: 0,
    }));
    for (const one of this.points) this.extend(one);
  }

  /** Whether this share does it: whole points if their number of runs depends on their intervals, otherwise single runs. */
  private isMine(point: number, replication: number): boolean {
    const { share, untilWidth } = this.options;
    if (share === undefined) return true;
    const number = untilWidth === undefined ? replication * this.points.length + point : point;
    return number % share.of === share.index;
  }

  /** The next run; null if there is none at present. */
  take(): { readonly progress: Progress; readonly replication: number } | null {
    for (const [k, progress] of this.points.entries()) {
      while (progress.next < progress.wanted) {
        const replication = progress.next++;
        if (!progress.runs.has(replication) && this.isMine(k, replication))
          return { progress, replication };
      }
    }
    return null;
  }

  /** Runs of a point in order, up to the number needed. */
  private wantedRuns({ runs, wanted }: Progress): JournalRun[] {
    return Array.from({ length: wanted }, (_, r) => runs.get(r)).filter((run) => run !== undefined);
  }

  /** Requests more runs of a point once all are known and an interval is too wide. */
  extend(progress: Progress): void {
    const { untilWidth, mostReplications = 1000 } = this.options;
    while (
      untilWidth !== undefined &&
      progress.wanted < mostReplications &&
      this.wantedRuns(progress).length === progress.wanted &&
      !this.isNarrow(progress)
    ) {
      progress.wanted = Math.min(
        mostReplications,
        progress.wanted + Math.ceil(progress.wanted / 2),
      );
    }
  }

  isNarrow(progress: Progress): boolean {
    const { untilWidth = Infinity } = this.options;
    return Object.values(this.sum(progress).measures).every(
      (interval) => relativeWidth(interval) <= untilWidth,
    );
  }

  sum(progress: Progress): SweepPoint {
    const runs = this.wantedRuns(progress);
    const lists = new Map<string, number[]>();
    for (const run of runs) {
      for (const [name, value] of Object.entries(valuesOf(run, this.measures)))
        lists.set(name, [...(lists.get(name) ?? []), value]);
    }
    const measures = Object.fromEntries(
      [...lists].map(([name, values]) => [name, meanInterval(values, this.confidence)]),
    );
    return { point: progress.point, replications: runs.length, measures };
  }

  get known(): number {
    return this.points.reduce((sum, one) => sum + this.wantedRuns(one).length, 0);
  }

  get wanted(): number {
    return this.points.reduce((sum, { wanted }) => sum + wanted, 0);
  }

  result(model: string): SweepResult {
    const narrow =
      this.options.untilWidth === undefined || this.points.every((one) => this.isNarrow(one));
    return {
      model,
      confidence: this.confidence,
      method: METHOD,
      points: this.points.map((one) => this.sum(one)),
      runs: this.points.flatMap((one) => this.wantedRuns(one)),
      complete: this.known === this.wanted && narrow,
    };
  }
}

function expectSound(options: SweepOptions): void {
  const { confidence = 0.95, replications = 10, untilWidth, share } = options;
  if (!(confidence > 0 && confidence < 1))
    throw new OptionError(`confidence ${confidence}: must lie between 0 and 1`);
  if (!Number.isInteger(replications) || replications < 1)
    throw new OptionError(`replications ${replications}: must be a positive integer`);
  if (untilWidth !== undefined && !(untilWidth > 0 && replications >= 2))
    throw new OptionError(
      'a width for the intervals must be above 0, and needs at least 2 replications',
    );
  if (share !== undefined && !(share.index >= 0 && share.index < share.of))
    throw new OptionError(`share ${share.index} of ${share.of}: there is no such share`);
}

/**
 * Runs the sweep of a model: a built-in name, the path or `file:` address of a module, or what `loadModel` gave. The result
 * has the names of what is varied and of the measures in its type.
 * @param settings settings that are not varied; runs are sequential
 * @throws OptionError for invalid settings; ModelError that names the point of a run that failed
 * @example
 * ```ts
 * import { sweep } from 'triscope/sim';
 *
 * const { points } = await sweep('examples/servers.ts', { end: 1000 }, {
 *   vary: [{ name: 'servers', values: [1, 2, 3] }],
 *   measures: { waiting: 'waiting.mean' },
 *   replications: 10,
 * });
 * for (const { point, measures } of points) console.log(point.servers, measures.waiting.mean);
 * ```
 */
export async function sweep<const N extends string = string, const K extends string = string>(
  model: string | URL | LoadedModel,
  settings: Settings,
  options: SweepOptions<N, K>,
): Promise<SweepResult<N, K>> {
  const isAddress = typeof model === 'string' || model instanceof URL;
  const loaded = isAddress ? await loadModel(model) : model;
  try {
    return (await sweepLoaded(loaded, settings, options)) as SweepResult<N, K>;
  } finally {
    if (isAddress) loaded.dispose();
  }
}

async function sweepLoaded(
  loaded: LoadedModel,
  settings: Settings,
  options: SweepOptions,
): Promise<SweepResult> {
  expectSound(options);
  const measures = measuresOf(options.measures);
  const { model, path } = loaded;
  // Every point is checked before the first run.
  for (const point of pointsOf(options.vary ?? []))
    configFor(model, settingsOf(settings, point, 0));
  const { file, share, signal } = options;
  const head = {
    sweep: 1,
    model: model.name,
    ...(path !== undefined && { source: sourceOf(path) }),
    settings: { ...settings },
  } as const;
  const journal =
    file === undefined
      ? null
      : new Journal(share === undefined ? file : shareFile(file, share.index), file, head);
  const plan = new Plan(options, journal?.runs ?? []);
  const runners: Runner[] = [];
  let failure: Error | null = null;
  let ended = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const go of waiting) go();
    waiting = [];
  };
  let underWay = 0;
  const stopped = () => failure !== null || signal?.aborted === true;

  const work = async (): Promise<void> => {
    let runner: Runner | null = null;
    while (!stopped()) {
      const task = plan.take();
      if (task === null) {
        if (underWay === 0) break;
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      const { progress, replication } = task;
      const { point } = progress;
      underWay++;
      try {
        if (runner === null) {
          runner = new AnsweringThread(WORKER, { workerData: loaded.reference });
          runners.push(runner);
        }
        const reply = await runner.ask(settingsOf(settings, point, replication));
        const run = { point, replication, ...reply };
        // The measures are checked before the run is kept.
        valuesOf(run, measures);
        journal?.add(run);
        progress.runs.set(replication, run);
        plan.extend(progress);
        options.onRun?.(run, plan.known, plan.wanted);
      } catch (error) {
        if (!stopped()) failure = told(error, point, replication);
        ended();
      } finally {
        underWay--;
        wake();
      }
    }
  };
  const jobs = options.jobs ?? availableParallelism();
  signal?.addEventListener('abort', ended, { once: true });
  try {
    await Promise.race([Promise.all(Array.from({ length: jobs }, work)), end]);
  } finally {
    signal?.removeEventListener('abort', ended);
    wake();
    await Promise.all(runners.map((runner) => runner.end()));
  }
  if (failure !== null) throw failure;
  return plan.result(model.name);
}

/** The error of a run, with the run. */
function told(error: unknown, point: Point, replication: number): Error {
  const where = [shownPoint(point), `replication ${replication}`]
    .filter((s) => s !== '')
    .join(', ');
  const text = withMend(error instanceof Error ? error.message : String(error));
  return error instanceof OptionError ? error : new ModelError(`${where}: ${text}`);
}
