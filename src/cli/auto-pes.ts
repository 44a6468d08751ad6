/** `--pes=auto`: how many PEs a run is worth, by short runs of it; and what a run itself tells of that. */

import { short } from '../model/measures/index.ts';
import { allowedCpus } from '../os/affinity.ts';
import { configFor, runsOnOnePe, type Settings } from '../sim/settings.ts';
import type { RunResult } from '../sim/statistics.ts';
import type { TrialRun } from '../sim/tune.ts';
import { UsageError } from './errors.ts';
import type { RunCommand } from './run-command.ts';
import { SIM_RUN_OPTIONS } from './sim-run-options.ts';
import { type TrialCall, trialRun } from './trial-run.ts';

/** `--pes=auto` as a number. */
export const AUTO = 0;
/** Seconds of the run on one PE, and of those on several: their threads have more to compile. */
const ALONE = 0.8;
const TOGETHER = 1.6;
/** So many times as long where nothing has got going: the machine is busy. */
const SLOW = 8;
/** Seconds that a run on one PE has to take for trials on several to be worth their time, each. */
const WORTH = 8;
/** By how much several PEs have to win: less is noise. */
const CLEARLY = 1.05;

interface Choice {
  readonly pes: number;
  readonly why: string;
}

/** Runs on `pes` PEs for so many seconds, or to the end. Rejects where it comes to nothing in that time. */
export type PesTrial = (pes: number, seconds: number) => Promise<TrialRun>;

/** From all CPUs down by halves; each is tried only if the whole run is long enough for it. */
export async function choosePes(cpus: number, trial: PesTrial): Promise<Choice> {
  if (cpus < 2) return { pes: 1, why: 'there is one CPU' };
  const alone = await trial(1, ALONE)
    .catch(() => trial(1, SLOW * ALONE))
    .catch(() => null);
  if (alone === null) return { pes: 1, why: `no run on one PE started within ${SLOW * ALONE} s` };
  const { wallSeconds, reached } = alone;
  if (reached >= 1) return { pes: 1, why: `the run takes ${wallSeconds.toFixed(2)} s` };
  const whole = reached > 0 ? wallSeconds / reached : Infinity;
  if (whole < WORTH) {
    return { pes: 1, why: `the run takes about ${whole.toFixed(1)} s, too short to try more PEs` };
  }
  let best = { pes: 1, rate: alone.eventRate * CLEARLY };
  const tried = [`1: ${short(alone.eventRate)}`];
  for (let pes = cpus, left = whole / WORTH; pes > 1 && left >= 1; pes >>= 1, left--) {
    const rate = (await trial(pes, TOGETHER).catch(() => null))?.eventRate ?? 0;
    tried.push(`${pes}: ${rate > 0 ? short(rate) : 'none'}`);
    if (rate > best.rate) best = { pes, rate };
  }
  return { pes: best.pes, why: `events/s in short runs by PEs: ${tried.join(', ')}` };
}

/**
 * What `--pes=auto` comes to; other settings stay as they are. Says on stderr what it has chosen, and why.
 * @throws UsageError where runs on several PEs would not be the same simulation
 */
export async function withPes(
  { loaded, settings, values }: RunCommand<typeof SIM_RUN_OPTIONS>,
  signal: AbortSignal,
): Promise<Settings> {
  if (settings.pes !== AUTO) return settings;
  const { model } = loaded;
  const alone = { ...settings, pes: 1 };
  const { options } = configFor(model, alone);
  const cpus = allowedCpus().length;
  const lps = model.lps(options, { pes: 1 });
  if (lps !== model.lps(options, { pes: Math.max(2, cpus) })) {
    throw new UsageError(
      `--pes=auto: model '${model.name}' is larger on more PEs; fix its size (phold: --total-lps)`,
    );
  }
  const words = [...values].flatMap(([name, value]) =>
    name === 'pes' || name === 'report-interval' || Object.hasOwn(SIM_RUN_OPTIONS, name)
      ? []
      : [`--${name}=${typeof value === 'boolean' ? Number(value) : value}`],
  );
  const trial: PesTrial = (pes, seconds) => {
    const args = [loaded.path ?? model.name, ...words, `--pes=${pes}`, '--transport=threads'];
    return trialRun({ args, seconds, signal, partly: true } satisfies TrialCall);
  };
  const { synch } = settings;
  const { pes, why } =
    synch !== undefined && runsOnOnePe(synch)
      ? { pes: 1, why: `--synch=${synch} has one` }
      : await choosePes(Math.min(cpus, lps), trial);
  process.stderr.write(`triscope: --pes=auto: ${pes} ${pes === 1 ? 'PE' : 'PEs'}; ${why}\n`);
  return { ...settings, pes };
}

/** Shorter runs are spent on compiling. */
const LEAST_SECONDS = 1;
/** Time of an event on one PE by its time on one of several: nothing is kept for undoing it, and none comes from another cache. */
const ON_ONE = 0.75;
/** A gain is told from here on. */
const TOLD = 0.8;

/**
 * Where the events of a run on several threads took so little of its time that one PE would have been faster: a line
 * that says so; else null. What an event takes is measured by sample, what it takes on one PE an estimate.
 */
export function fewerPes(r: RunResult): string | null {
  if (r.pes === 1 || r.transport !== undefined || !r.finished || !r.config.timing) return null;
  if (r.wallSeconds < LEAST_SECONDS) return null;
  const handling = r.perPe.reduce(
    (sum, { seconds }) => sum + seconds.eventProcess + seconds.priorityQueue,
    0,
  );
  const net = (handling * r.netEvents) / r.eventsProcessed;
  if (!(net > 0) || net * ON_ONE > TOLD * r.wallSeconds) return null;
  const all = r.pes * r.wallSeconds;
  const share = ((100 * net) / all).toFixed(0);
  return `One PE would probably have been faster: handling the committed events took only ${share} % of ${r.pes} × ${r.wallSeconds.toFixed(1)} s. Use --pes=auto to compare.`;
}
