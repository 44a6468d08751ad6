/**
 * Finds a faster setting for a model by successive halving (Jamieson and Talwalkar 2016): all candidates run a little
 * of the simulation, the better half runs twice as much, and so on. Then the winner and the start setting run in turns.
 */
import { median } from '../model/numbers.ts';
import { SYNCHRONISERS, type Synchroniser } from './config.ts';
import { type KnobSettings, keyOf } from './tune-candidates.ts';

interface Trial {
  readonly settings: KnobSettings;
  readonly end: number;
  /** 1 and on for halving, 0 for the comparison at the end. */
  readonly rung: number;
  /** Committed events a second; null where the run failed or took far too long. */
  readonly eventRate: number | null;
  readonly efficiency: number | null;
  readonly eventDigest: string | null;
  readonly error?: string;
}

/** What a run of a setting to a virtual time gave. */
export interface TrialRun {
  readonly eventRate: number;
  readonly efficiency: number;
  readonly eventDigest: string;
  readonly wallSeconds: number;
  /** Virtual time between GVTs. */
  readonly gvtStep: number;
  /** Share of the way to the end; 1 for all of it. */
  readonly reached: number;
}

/** A setting that a finding about the start setting advises. */
export interface Advised {
  readonly rule: string;
  readonly settings: KnobSettings;
  /** Times as fast as the start setting, at most, as the finding has it; null where it does not say. */
  readonly expected: number | null;
}

export interface TuneOptions {
  /** Tried before all candidates: what findings of a run of the start setting to `end` advise. */
  readonly advised?: (end: number) => Promise<readonly Advised[]>;
  /** Runs a setting to `end`. Rejects where it fails, or takes longer than `seconds`. */
  readonly run: (settings: KnobSettings, end: number, seconds: number) => Promise<TrialRun>;
  readonly start: KnobSettings;
  /** Made once the start's pace is known. */
  readonly candidates: (gvtStep: number) => readonly KnobSettings[];
  readonly end: number;
  /** Seconds that the first runs take with the start setting. */
  readonly trialSeconds: number;
  /** Runs of winner and start each at the end. */
  readonly repeats: number;
  readonly signal?: AbortSignal;
  readonly onTrial?: (text: string) => void;
}

/** What became of a finding's advice. */
export interface Tried extends Advised {
  /** Its events a second by those of the start setting, in the first round; null where one of them failed. */
  readonly gain: number | null;
  /** Whether its setting is the best. */
  readonly best: boolean;
}

/** The best setting of a synchroniser. */
export interface TunedSynchroniser {
  readonly synch: Synchroniser;
  readonly settings: KnobSettings;
  /** Median rate of the comparison at the end, in events a second; null where it was not reached. */
  readonly rate: number | null;
  /** That by the rate of the fastest synchroniser. */
  readonly share: number | null;
}

export interface Tuned {
  readonly advised: readonly Tried[];
  readonly start: KnobSettings;
  readonly best: KnobSettings;
  /** Median rates of the comparison at the end; null where it was not reached. */
  readonly startRate: number | null;
  readonly bestRate: number | null;
  /** `bestRate / startRate`; 1 where the start is the best. */
  readonly gain: number | null;
  /** Whether every run of the best was faster than every run of the start. */
  readonly certain: boolean;
  /** Of each synchroniser that was tried the best setting, the fastest first. */
  readonly synchronisers: readonly TunedSynchroniser[];
  readonly trials: readonly Trial[];
  /** Settings that committed other events than the start at the same end: the model is not sound. */
  readonly different: readonly KnobSettings[];
  readonly complete: boolean;
}

/** A run this many times as slow as the start, and SLACK_SECONDS more, is given up: it has lost. */
const MOST_SLOWDOWN = 4;
const SLACK_SECONDS = 5;

class Search {
  readonly trials: Trial[] = [];
  private readonly options: TuneOptions;
  /** Seconds of a unit of virtual time with the start setting. */
  pace = 0;

  constructor(options: TuneOptions) {
    this.options = options;
  }

  get stopped(): boolean {
    return this.options.signal?.aborted === true;
  }

  async try(settings: KnobSettings, end: number, rung: number, what: string): Promise<Trial> {
    const { run, onTrial } = this.options;
    onTrial?.(what);
    let trial: Trial;
    try {
      const seconds = SLACK_SECONDS + MOST_SLOWDOWN * this.pace * end;
      const { eventRate, efficiency, eventDigest } = await run(settings, end, seconds);
      trial = { settings, end, rung, eventRate, efficiency, eventDigest };
    } catch (error) {
      const nothing = { eventRate: null, efficiency: null, eventDigest: null };
      trial = { settings, end, rung, ...nothing, error: (error as Error).message };
    }
    if (!this.stopped) this.trials.push(trial);
    return trial;
  }

  /** The end at which the start setting takes about `trialSeconds`. @throws what the start setting's run throws */
  async calibrate(): Promise<{ end: number; gvtStep: number }> {
    const { run, start, end: last, trialSeconds, onTrial } = this.options;
    let end = last / 1024;
    for (;;) {
      onTrial?.(`how long a run takes: end ${Number(end.toPrecision(3))}`);
      const { wallSeconds, gvtStep } = await run(start, end, Infinity);
      this.pace = wallSeconds / end;
      if (end >= last || wallSeconds >= trialSeconds / 2 || this.stopped) return { end, gvtStep };
      end = Math.min(last, end * Math.min(16, Math.max(2, trialSeconds / wallSeconds)));
    }
  }
}

const rateOf = ({ eventRate }: Trial): number => eventRate ?? -1;

/** @throws what a run of the start setting throws */
export async function tune(options: TuneOptions): Promise<Tuned> {
  const { start, end: last, repeats } = options;
  const search = new Search(options);
  const { end: first, gvtStep } = await search.calibrate();
  const advised = search.stopped ? [] : ((await options.advised?.(first)) ?? []);
  const [begin, ...others] = options.candidates(gvtStep);
  let field = distinct([begin, ...advised.map(({ settings }) => settings), ...others]);
  let end = first;
  for (let rung = 1; field.length > 1 && !search.stopped; rung++) {
    const results: Trial[] = [];
    for (const settings of field) {
      if (search.stopped) break;
      const what = `round ${rung}: ${results.length + 1} of ${field.length}`;
      results.push(await search.try(settings, end, rung, what));
    }
    if (search.stopped) break;
    results.sort((a, b) => rateOf(b) - rateOf(a));
    field = results.slice(0, Math.ceil(field.length / 2)).map(({ settings }) => settings);
    end = Math.min(last, end * 2);
  }
  const best = search.stopped ? bestSoFar(search.trials, start) : field[0];
  const ofEach = search.stopped ? [] : bestOfEach(search.trials);
  const compared = await compare(search, { start, best, ofEach, end, repeats });
  return { ...compared, advised: advised.map((one) => triedOf(one, search.trials, compared)) };
}

const same = (a: KnobSettings, b: KnobSettings): boolean => keyOf(a) === keyOf(b);

/** Of each synchroniser the setting that came farthest, and was the fastest there. */
function bestOfEach(trials: readonly Trial[]): KnobSettings[] {
  const found = new Map<number, Trial>();
  for (const trial of trials) {
    if (trial.eventRate === null) continue;
    const { synch } = trial.settings;
    const known = found.get(synch);
    const isBetter =
      known === undefined ||
      trial.rung > known.rung ||
      (trial.rung === known.rung && rateOf(trial) > rateOf(known));
    if (isBetter) found.set(synch, trial);
  }
  return [...found.values()].map(({ settings }) => settings);
}

const distinct = (all: readonly KnobSettings[]): KnobSettings[] =>
  all.filter((one, k) => all.findIndex((other) => same(one, other)) === k);

function triedOf(one: Advised, trials: readonly Trial[], { start, best }: Compared): Tried {
  const rate = (settings: KnobSettings) =>
    trials.find((trial) => trial.rung === 1 && same(trial.settings, settings))?.eventRate ?? null;
  const [its, starts] = [rate(one.settings), rate(start)];
  const gain = its === null || starts === null ? null : its / starts;
  return { ...one, gain, best: same(one.settings, best) && !same(best, start) };
}

/** Of an interrupted search: the fastest of the last round that has any. */
function bestSoFar(trials: readonly Trial[], start: KnobSettings): KnobSettings {
  const last = Math.max(0, ...trials.map(({ rung }) => rung));
  const [best] = trials.filter(({ rung }) => rung === last).sort((a, b) => rateOf(b) - rateOf(a));
  return best?.settings ?? start;
}

type Compared = Omit<Tuned, 'advised'>;

interface Finalists {
  readonly start: KnobSettings;
  /** The winner of the rounds. */
  readonly best: KnobSettings;
  /** The best of each synchroniser. */
  readonly ofEach: readonly KnobSettings[];
  readonly end: number;
  readonly repeats: number;
}

const nameOf = ({ synch }: KnobSettings): Synchroniser =>
  (Object.entries(SYNCHRONISERS).find(([, number]) => number === synch)?.[0] ??
    'optimistic') as Synchroniser;

/** Runs them in turns, so that all meet the same load of the machine. */
async function compare(search: Search, given: Finalists): Promise<Compared> {
  const { start, end, repeats } = given;
  const finalists = distinct([start, given.best, ...given.ofEach]);
  const rates = finalists.map(() => [] as number[]);
  for (let k = 0; finalists.length > 1 && k < repeats && !search.stopped; k++) {
    for (const [n, settings] of finalists.entries()) {
      if (search.stopped) break;
      const what = `comparison: ${k + 1} of ${repeats}, ${n + 1} of ${finalists.length}`;
      const { eventRate } = await search.try(settings, end, 0, what);
      if (eventRate !== null) rates[n].push(eventRate);
    }
  }
  const medians = rates.map((some) => (some.length > 0 ? median(some) : null));
  const indexOf = (one: KnobSettings) => finalists.findIndex((other) => same(one, other));
  const rateOfOne = (one: KnobSettings) => medians[indexOf(one)];
  // The winner of the rounds may have been lucky.
  const fastest = medians.reduce<number>(
    (most, rate, k) => ((rate ?? -1) > (medians[most] ?? -1) ? k : most),
    indexOf(given.best),
  );
  const best = finalists[fastest];
  const [startRate, bestRate] = [medians[0], medians[fastest]];
  const isSame = fastest === 0;
  const { trials } = search;
  const synchronisers = given.ofEach
    .map((settings) => ({ synch: nameOf(settings), settings, rate: rateOfOne(settings) }))
    .sort((a, b) => (b.rate ?? -1) - (a.rate ?? -1));
  const most = synchronisers[0]?.rate ?? null;
  return {
    ...{ start, best, startRate, bestRate, trials },
    gain: isSame ? 1 : startRate !== null && bestRate !== null ? bestRate / startRate : null,
    certain: !isSame && Math.min(...rates[fastest]) > Math.max(...rates[0]),
    synchronisers: synchronisers.map((one) => ({
      ...one,
      share: one.rate === null || most === null ? null : one.rate / most,
    })),
    different: differing(trials),
    complete: !search.stopped,
  };
}

/** Settings whose events differ from those that most others commit by the same end. */
function differing(trials: readonly Trial[]): KnobSettings[] {
  const byEnd = new Map<number, Trial[]>();
  for (const trial of trials) {
    if (trial.eventDigest !== null) byEnd.set(trial.end, [...(byEnd.get(trial.end) ?? []), trial]);
  }
  const found: KnobSettings[] = [];
  for (const group of byEnd.values()) {
    const counts = new Map<string | null, number>();
    for (const { eventDigest } of group)
      counts.set(eventDigest, (counts.get(eventDigest) ?? 0) + 1);
    const [most] = [...counts].sort((a, b) => b[1] - a[1])[0];
    found.push(...group.filter((one) => one.eventDigest !== most).map((one) => one.settings));
  }
  return found;
}
