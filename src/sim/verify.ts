/**
 * Proves that a model commits the same events and ends in the same state under every synchroniser, or
 * finds where it does not.
 */
import type { Synchroniser } from './config.ts';
import { firstDifference, type LoggedRun } from './first-difference.ts';
import type { LoadedModel } from './load-model.ts';
import { configFor, type Settings } from './settings.ts';
import { type RunOptions, simulate } from './simulate.ts';
import type { RunResult } from './statistics.ts';

/** One way of running the model. */
export interface VerifyCase {
  readonly name: string;
  readonly settings: Settings;
}

/** The same on ranks, of which so many of a machine share memory at most. */
export interface RankCase extends VerifyCase {
  readonly mostSharing: number;
}

/** What came of it, compared with the sequential run. */
export interface VerifyRow {
  readonly name: string;
  readonly synchroniser: Synchroniser;
  readonly pes: number;
  readonly same: boolean;
  readonly netEvents: number | null;
  readonly rollbacks: number | null;
  readonly stateDigest: string | null;
  readonly eventDigest: string | null;
  readonly wallSeconds: number | null;
  /** Why the run failed, if it did. */
  readonly error?: string;
  /** Where it first differs, for the first few that do. */
  readonly difference?: string;
}

export interface VerifyOptions {
  /** Ends after the run under way; rows so far are returned. */
  readonly signal?: AbortSignal;
  /** Called before each run. */
  readonly onCase?: (name: string, index: number, count: number) => void;
  readonly onRow?: (row: VerifyRow) => void;
  readonly console?: NodeJS.WritableStream;
}

const MIB = 2 ** 20;
/** Runs in which a difference may show again, with a log of what they commit. */
export const TRIES = 3;

export const NOT_AGAIN = `it did not show again in ${TRIES} runs: it depends on timing, or on something outside the state`;

/** Runs that are examined for where they differ; further ones most likely differ for the same reason. */
export const MOST_EXAMINED = 3;

/** Settings that say how to run, not what: they make a case of their own where they are given. */
const HOW = ['synch', 'nkp', 'batch', 'gvtInterval', 'maxOptLookahead'] as const;

const whatOf = (settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => !(HOW as readonly string[]).includes(name)),
  );

const asksHow = (settings: Settings) => HOW.some((name) => settings[name] !== undefined);

/** What to run on the ranks of an MPI job, one PE each. */
export function casesForRanks(
  settings: Settings,
  lookahead: number,
  ranks: number,
  sharing: number,
): RankCase[] {
  const what = whatOf(settings);
  const of = (name: string, how: Settings, mostSharing = sharing): RankCase => ({
    name: name.replace('N', `${ranks} rank${ranks === 1 ? '' : 's'}`),
    settings: { ...what, pes: ranks, ...how },
    mostSharing,
  });
  const synch = 'optimistic';
  return [
    ...(lookahead > 0 ? [of('conservative, N', { synch: 'conservative' })] : []),
    of('optimistic, N', { synch }),
    ...(sharing > 1 ? [of('optimistic, N, nothing shared', { synch }, 1)] : []),
    of('optimistic, N, nkp 1, batch 1, gvt 4', { synch, nkp: 1, batch: 1, gvtInterval: 4 }),
    of('optimistic, N, nkp 64, batch 256, gvt 64', {
      synch,
      nkp: 64,
      batch: 256,
      gvtInterval: 64,
    }),
    of('optimistic-realtime, N', { synch: 'optimistic-realtime', gvtInterval: 5 }),
    ...(asksHow(settings) ? [of('as given, N', { synch, ...settings, pes: ranks })] : []),
  ];
}

/** What to run beside sequential. `lps` bounds the number of PEs. */
export function casesFor(settings: Settings, lookahead: number, lps: number): VerifyCase[] {
  const what = whatOf(settings);
  const of = (name: string, how: Settings): VerifyCase => ({ name, settings: { ...what, ...how } });
  const optimistic = (pes: number, how: Settings = {}) => {
    const knobs = Object.entries({ nkp: how.nkp, batch: how.batch, gvt: how.gvtInterval })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `, ${name} ${value}`);
    const name = `optimistic, ${pes} PE${pes === 1 ? '' : 's'}${knobs.join('')}`;
    return of(name, { synch: 'optimistic', pes, ...how });
  };
  const cases = [
    of('rollback-check', { synch: 'rollback-check', pes: 1 }),
    of('optimistic-debug', { synch: 'optimistic-debug', pes: 1 }),
    ...(lookahead > 0
      ? [1, 2].map((pes) =>
          of(`conservative, ${pes} PE${pes === 1 ? '' : 's'}`, { synch: 'conservative', pes }),
        )
      : []),
    optimistic(1),
    optimistic(2),
    optimistic(2, { nkp: 1, batch: 1, gvtInterval: 4 }),
    optimistic(2, { nkp: 64, batch: 256, gvtInterval: 64 }),
    optimistic(4, { nkp: 4 }),
    of('optimistic-realtime, 2 PEs', { synch: 'optimistic-realtime', pes: 2, gvtInterval: 5 }),
  ];
  const asked = asksHow(settings) || (settings.pes ?? 1) > 1;
  if (asked) cases.push({ name: 'as given', settings });
  return cases.filter((c) => (c.settings.pes ?? 1) <= lps);
}

/** A model under examination: its sequential result is the truth. */
class Examination {
  private readonly loaded: LoadedModel;
  private readonly sequential: Settings;
  private readonly run: RunOptions;
  private truth: LoggedRun | null = null;

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

  reference(): Promise<RunResult> {
    return simulate(this.loaded, this.sequential, this.run);
  }

  result(settings: Settings): Promise<RunResult> {
    return simulate(this.loaded, settings, this.run);
  }

  private async logged(name: string, settings: Settings): Promise<LoggedRun> {
    let logs: LoggedRun['logs'] = [];
    const onCommits: RunOptions['onCommits'] = (all) => {
      logs = all;
    };
    await simulate(this.loaded, settings, { ...this.run, onCommits });
    return { name, logs };
  }

  /** Runs both again, this time with logs, and says where they part. */
  async whereDifferent({ name, settings }: VerifyCase): Promise<string> {
    this.truth ??= await this.logged('sequential', this.sequential);
    for (let k = 0; k < TRIES; k++) {
      const other = await this.logged(name, settings);
      const difference = firstDifference(this.loaded.model, this.truth, other);
      if (difference !== null) return difference;
    }
    return NOT_AGAIN;
  }
}

/** What of a sequential run others are compared with. */
export type Truth = Pick<RunResult, 'netEvents' | 'stateDigest' | 'eventDigest'>;

export function rowOf(name: string, result: RunResult, truth: Truth): VerifyRow {
  return {
    name,
    synchroniser: result.config.synch,
    pes: result.pes,
    same:
      result.stateDigest === truth.stateDigest &&
      result.eventDigest === truth.eventDigest &&
      result.netEvents === truth.netEvents,
    netEvents: result.netEvents,
    rollbacks: result.totalRollbacks,
    stateDigest: result.stateDigest,
    eventDigest: result.eventDigest,
    wallSeconds: result.wallSeconds,
  };
}

/** A run that failed where the sequential one did not. */
export function failedRow({ name, settings }: VerifyCase, error: string): VerifyRow {
  return {
    name,
    synchroniser: settings.synch ?? 'sequential',
    pes: settings.pes ?? 1,
    same: false,
    netEvents: null,
    rollbacks: null,
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
 */
export async function verify(
  loaded: LoadedModel,
  settings: Settings = {},
  options: VerifyOptions = {},
): Promise<VerifyRow[]> {
  const examination = new Examination(loaded, settings, options);
  const config = configFor(loaded.model, settings);
  const lps = loaded.model.lps(config.options, { pes: config.pes });
  const cases = casesFor(settings, config.lookahead, lps);
  const rows: VerifyRow[] = [];
  const add = (row: VerifyRow) => {
    rows.push(row);
    options.onRow?.(row);
  };
  options.onCase?.('sequential', 0, cases.length + 1);
  const truth = await examination.reference();
  if (!truth.finished) return rows;
  add(rowOf('sequential', truth, truth));
  // Debug runs keep all events until memory is full; without a bound of their own that is gigabytes.
  const debugMemory = Math.max(256 * MIB, 4 * truth.peakEvents * truth.eventBytes);
  for (const [k, given] of cases.entries()) {
    const isDebug = given.settings.synch === 'optimistic-debug';
    const bounded = { maxMemory: debugMemory, ...given.settings };
    const one = isDebug ? { ...given, settings: bounded } : given;
    options.onCase?.(one.name, k + 1, cases.length + 1);
    try {
      const result = await examination.result(one.settings);
      if (!result.finished) break;
      const row = rowOf(one.name, result, truth);
      const examine = !row.same && rows.filter((r) => r.difference).length < MOST_EXAMINED;
      add(examine ? { ...row, difference: await examination.whereDifferent(one) } : row);
    } catch (error) {
      add(failedRow(one, error instanceof Error ? error.message : String(error)));
    }
    if (options.signal?.aborted) break;
  }
  return rows;
}
