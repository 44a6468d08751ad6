/** `--pes=auto`: chooses the number of PEs by short trial runs; also judges after a run whether one PE would have been faster. */

import { shareText, short } from '../model/measures/index.ts';
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
/** Seconds of the trial on one PE, and of trials on several, whose threads have more to compile. */
const ALONE_SECONDS = 0.8;
const TOGETHER_SECONDS = 1.6;
/** Factor by which a trial may take longer where nothing was committed in time because the machine is busy. */
const SLOW = 8;
/** Seconds that the whole run must take on one PE for each further trial to be worth its time. */
const WORTH_SECONDS = 8;
/** Speedup from which several PEs are chosen; less is noise. */
const CLEARLY = 1.05;

interface Choice {
  readonly pes: number;
  readonly why: string;
}

/** Runs on `pes` PEs for so many seconds, or to the end. Rejects if nothing is committed in that time. */
export type PesTrial = (pes: number, seconds: number) => Promise<TrialRun>;

/** From all CPUs down by halves; each is tried only if the whole run is long enough for it. */
export async function choosePes(cpus: number, trial: PesTrial): Promise<Choice> {
  if (cpus < 2) return { pes: 1, why: 'there is one CPU' };
  const alone = await trial(1, ALONE_SECONDS)
    .catch(() => trial(1, SLOW * ALONE_SECONDS))
    .catch(() => null);
  if (alone === null)
    return { pes: 1, why: `no run on one PE started within ${SLOW * ALONE_SECONDS} s` };
  const { wallSeconds, reached } = alone;
  if (reached >= 1) return { pes: 1, why: `the run takes ${wallSeconds.toFixed(2)} s` };
  const whole = reached > 0 ? wallSeconds / reached : Infinity;
  if (whole < WORTH_SECONDS) {
    return { pes: 1, why: `the run takes about ${whole.toFixed(1)} s, too short to try more PEs` };
  }
  let best = { pes: 1, rate: alone.eventRate * CLEARLY };
  const tried = [`1: ${short(alone.eventRate)}`];
  for (let pes = cpus, left = whole / WORTH_SECONDS; pes > 1 && left >= 1; pes >>= 1, left--) {
    const rate = (await trial(pes, TOGETHER_SECONDS).catch(() => null))?.eventRate ?? 0;
    tried.push(`${pes}: ${rate > 0 ? short(rate) : 'none'}`);
    if (rate > best.rate) best = { pes, rate };
  }
  return { pes: best.pes, why: `events/s in short runs by PEs: ${tried.join(', ')}` };
}

/**
 * Replaces `--pes=auto` by a number; other settings stay as they are. Says on stderr which number was chosen, and why.
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

/** Runs shorter than this mostly compile, and are not judged. */
const LEAST_SECONDS = 1;
/** Time of an event on one PE divided by its time on several: one PE saves nothing for rollbacks, and no event comes from another CPU's cache. */
const ON_ONE = 0.75;
/** The hint is given where one PE is estimated to take at most this share of the time. */
const TOLD = 0.8;

/**
 * A line that says that one PE would have been faster, where the events of a run on several threads took little of its time; else
 * null. The time of an event is measured by sampling; its time on one PE is an estimate.
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
  return `One PE would probably have been faster: handling the committed events took only ${shareText(net / all)} of ${r.pes} × ${r.wallSeconds.toFixed(1)} s. Use --pes=auto to compare.`;
}
