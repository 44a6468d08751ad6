/**
 * Proves that a model commits the same events and ends in the same state under every synchroniser, or
 * finds where it does not.
 */

import { MIB } from '../model/units.ts';
import { chaosCase } from './chaos-case.ts';
import type { Synchroniser } from './config.ts';
import { firstDifference, type LoggedRun } from './first-difference.ts';
import type { LoadedModel } from './load-model.ts';
import { contentOf } from './module-state.ts';
import type { OutputLine } from './pe.ts';
import { outputDifference, resultsDifference } from './report-difference.ts';
import { sizedModel } from './run-model.ts';
import { configFor, type Settings } from './settings.ts';
import { type RunOptions, simulate } from './simulate.ts';
import type { RunResult } from './statistics.ts';
import type { Tables } from './tables.ts';
import type { ChaosSettings } from './transport/chaos.ts';
import { type ChaosRuns, casesFor, type VerifyCase, whatOf } from './verify-cases.ts';

/** One run of `verify`, compared with the sequential run. What a run that failed did not tell is null. */
export interface VerifyRow {
  /** Name of the case. */
  readonly name: string;
  /** How its PEs kept the order of events. */
  readonly synchroniser: Synchroniser;
  /** Number of PEs. */
  readonly pes: number;
  /** Whether events, states and output are those of the sequential run. */
  readonly same: boolean;
  /** Number of events committed. */
  readonly netEvents: number | null;
  /** Number of rollbacks. */
  readonly rollbacks: number | null;
  /** Number of messages that waited for room at their receiver. */
  readonly heldBack: number | null;
  /** Digest of the final states, 16 hexadecimal digits. */
  readonly stateDigest: string | null;
  /** Digest of the committed events, 16 hexadecimal digits. */
  readonly eventDigest: string | null;
  /** Seconds from the first event to the last. */
  readonly wallSeconds: number | null;
  /** Seed of the chaos that it ran under. */
  readonly chaos?: number;
  /** Why the run failed, if it did. */
  readonly error?: string;
  /** Where it first differs, for the first few that do. */
  readonly difference?: string;
}

/** What is run beside the plain comparison, what ends it, and what hears of its cases. */
export interface VerifyOptions {
  /** Runs under chaos, instead of the usual ones. */
  readonly chaos?: ChaosRuns;
  /** Ends after the run under way; rows so far are returned. */
  readonly signal?: AbortSignal;
  /** Called before each run. */
  readonly onCase?: (name: string, index: number, count: number) => void;
  /** Called with the result of each run. */
  readonly onRow?: (row: VerifyRow) => void;
  /**
   * Called where handlers write variables at the top of the model's modules: `samples (shop.ts:3:5)`. They are not
   * undone, and each thread has its own.
   */
  readonly onWritten?: (variables: readonly string[]) => void;
  /** Where the model's own output goes. */
  readonly console?: NodeJS.WritableStream;
}

/** Runs in which a difference may show again, with a log of what they commit. */
export const TRIES = 3;

export const NOT_AGAIN = `it did not show again in ${TRIES} runs: it depends on timing, or on something outside the state`;

/** Runs that are examined for where they differ; further ones most likely differ for the same reason. */
export const MOST_EXAMINED = 3;

/** A model under examination: its sequential result is the truth. */
class Examination {
  private readonly loaded: LoadedModel;
  private readonly sequential: Settings;
  private readonly run: RunOptions;
  private truth: LoggedRun | null = null;
  /** Variables of the model's modules that the sequential run left with other values. */
  written: string[] = [];

  constructor(loaded: LoadedModel, settings: Settings, options: VerifyOptions) {
    const { synch: _, ...rest } = settings;
    this.loaded = loaded;
    this.sequential = { ...rest, synch: 'sequential', pes: 1 };
    this.run = {
      sizedFor: settings.pes ?? 1,
      ...(options.signal && { signal: options.signal }),
      ...(options.console && { console: options.console }),
    };
  }

  /** The sequential run. Finds the variables that its handlers write. */
  async reference(): Promise<ReportedRun> {
    const { model, variables } = this.loaded;
    let before: string[] = [];
    let tables: Tables = {};
    let tablesBefore: string[] = [];
    const contents = () => (variables?.() ?? []).map(({ value }) => contentOf(value));
    const tableContents = () => Object.values(tables).map(contentOf);
    // What `prepare` works out is the model's to keep.
    const watched: LoadedModel = {
      ...this.loaded,
      model: {
        ...model,
        prepare: (options, run) => {
          const params = model.prepare(options, run);
          before = contents();
          tables = run.tables ?? {};
          tablesBefore = tableContents();
          return params;
        },
      },
    };
    const run = await this.reported(watched, this.sequential);
    const after = contents();
    const tablesAfter = tableContents();
    this.written = [
      ...(variables?.() ?? [])
        .filter((_, k) => before[k] !== after[k])
        .map(({ name, place }) => `${name} (${place()})`),
      ...Object.keys(tables)
        .filter((_, k) => tablesBefore[k] !== tablesAfter[k])
        .map((name) => `tables.${name}`),
    ];
    return run;
  }

  result({ settings, chaos }: VerifyCase): Promise<ReportedRun> {
    return this.reported(this.loaded, settings, chaos);
  }

  private async reported(
    loaded: LoadedModel,
    settings: Settings,
    chaos?: ChaosSettings,
  ): Promise<ReportedRun> {
    const lines: OutputLine[] = [];
    const onOutput: RunOptions['onOutput'] = (some) => {
      for (const line of some) lines.push(line);
    };
    const run = { ...this.run, onOutput, ...(chaos && { chaos }) };
    return { ...(await simulate(loaded, settings, run)), lines };
  }

  private async logged(
    name: string,
    settings: Settings,
    chaos?: ChaosSettings,
  ): Promise<LoggedRun> {
    let logs: LoggedRun['logs'] = [];
    const onCommits: RunOptions['onCommits'] = (all) => {
      logs = all;
    };
    await simulate(this.loaded, settings, { ...this.run, onCommits, ...(chaos && { chaos }) });
    return { name, logs };
  }

  /** Runs both again, this time with logs, and says where they part. */
  async whereDifferent({ name, settings, chaos }: VerifyCase): Promise<string> {
    this.truth ??= await this.logged('sequential', this.sequential);
    for (let k = 0; k < TRIES; k++) {
      const other = await this.logged(name, settings, chaos);
      const { options } = configFor(this.loaded.model, this.sequential);
      const model = sizedModel(this.loaded.model, options);
      const difference = firstDifference(model, this.truth, other);
      if (difference !== null) return difference;
    }
    return NOT_AGAIN;
  }
}

/** Name and seed; not of chaos that has no seed to repeat. */
const called = ({ name, chaos }: Pick<VerifyCase, 'name' | 'chaos'>) => ({
  name,
  ...(chaos !== undefined && chaos.shape === undefined && { chaos: chaos.seed }),
});

/** A run, and what it printed, where that was heard. */
type ReportedRun = RunResult & { readonly lines?: readonly OutputLine[] };

const sameEvents = (a: RunResult, b: RunResult) =>
  a.stateDigest === b.stateDigest && a.eventDigest === b.eventDigest && a.netEvents === b.netEvents;

/** What `result` reports otherwise than `truth`, the sequential run, though it did the same; null for nothing. */
function reportedOtherwise(name: string, truth: ReportedRun, result: ReportedRun): string | null {
  const names = ['sequential', name] as const;
  return (
    resultsDifference(names, truth.results, result.results) ??
    outputDifference(names, truth.lines ?? [], result.lines ?? [])
  );
}

/** The row of one run, as far as results tell. */
export function rowOf(
  one: Pick<VerifyCase, 'name' | 'chaos'>,
  result: ReportedRun,
  truth: ReportedRun,
): VerifyRow {
  const events = sameEvents(result, truth);
  const reported = events ? reportedOtherwise(one.name, truth, result) : null;
  return {
    ...called(one),
    synchroniser: result.config.synch,
    pes: result.pes,
    same: events && reported === null,
    netEvents: result.netEvents,
    rollbacks: result.totalRollbacks,
    heldBack: result.heldBack,
    stateDigest: result.stateDigest,
    eventDigest: result.eventDigest,
    wallSeconds: result.wallSeconds,
    ...(reported !== null && {
      difference: `same events and states; ${reported}: it depends on more than its LPs’ states`,
    }),
  };
}

/** A run that failed where the sequential one did not. */
export function failedRow(one: VerifyCase, error: string): VerifyRow {
  const { settings } = one;
  return {
    ...called(one),
    synchroniser: settings.synch ?? 'sequential',
    pes: settings.pes ?? 1,
    same: false,
    netEvents: null,
    rollbacks: null,
    heldBack: null,
    stateDigest: null,
    eventDigest: null,
    wallSeconds: null,
    error,
  };
}

/**
 * Runs `loaded` under every synchroniser, with several numbers of PEs, KPs and batches. The model has the
 * size that it has on `settings.pes` PEs throughout.
 * @returns one row per run, the sequential one first
 * @throws what the sequential run throws; failures of the others are rows
 * @example
 * ```ts
 * import { loadModel, verify } from 'triscope/sim';
 *
 * const loaded = await loadModel('queueing');
 * for (const row of await verify(loaded, { end: 500 })) console.log(row.name, row.pes, row.same);
 * loaded.dispose();
 * ```
 */
export async function verify(
  loaded: LoadedModel,
  settings: Settings = {},
  options: VerifyOptions = {},
): Promise<VerifyRow[]> {
  const examination = new Examination(loaded, settings, options);
  const config = configFor(loaded.model, settings);
  const lps = loaded.model.lps(config.options, { pes: config.pes });
  const rows: VerifyRow[] = [];
  const add = (row: VerifyRow) => {
    rows.push(row);
    options.onRow?.(row);
  };
  const { chaos } = options;
  options.onCase?.('sequential', 0, 1);
  const truth = await examination.reference();
  if (!truth.finished) return rows;
  add(rowOf({ name: 'sequential' }, truth, truth));
  if (examination.written.length > 0) options.onWritten?.(examination.written);
  const memory = truth.peakEvents * truth.eventBytes;
  const ground = { lookahead: config.lookahead, lps, memory };
  const cases: readonly VerifyCase[] =
    chaos === undefined
      ? casesFor(settings, config.lookahead, lps)
      : Array.from({ length: lps > 1 ? chaos.runs : 0 }, (_, k) =>
          chaosCase(chaos.first + k, whatOf(settings), ground),
        );
  // Debug runs keep all events until memory is full; without a bound of their own that is gigabytes.
  const debugMemory = Math.max(256 * MIB, 4 * memory);
  for (const [k, given] of cases.entries()) {
    const isDebug = given.settings.synch === 'optimistic-debug';
    const bounded = { maxMemory: debugMemory, ...given.settings };
    const one = isDebug ? { ...given, settings: bounded } : given;
    options.onCase?.(one.name, k + 1, cases.length + 1);
    try {
      const result = await examination.result(one);
      if (!result.finished) break;
      const row = rowOf(one, result, truth);
      const examined = rows.filter((r) => r.difference).length;
      const examine = !row.same && row.difference === undefined && examined < MOST_EXAMINED;
      add(examine ? { ...row, difference: await examination.whereDifferent(one) } : row);
    } catch (error) {
      add(failedRow(one, error instanceof Error ? error.message : String(error)));
    }
    if (options.signal?.aborted) break;
  }
  return rows;
}
