/**
 * `--pes=auto`: chooses the number of PEs by short trial runs, and how they are synchronised where the user leaves that open; also
 * judges after a run whether one PE would have been faster.
 */

import { shareText, short } from '../model/measures/index.ts';
import { allowedCpus } from '../os/affinity.ts';
import type { Synchroniser } from '../sim/config.ts';
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
  /** How several PEs are synchronised. */
  readonly synch?: Synchroniser;
  readonly why: string;
}

/** Runs on `pes` PEs for so many seconds, or to the end. Rejects if nothing is committed in that time. */
export type PesTrial = (
  pes: number,
  seconds: number,
  synch: Synchroniser | undefined,
) => Promise<TrialRun>;

/**
 * From all CPUs down by halves, with each synchroniser; each is tried only if the whole run is long enough for it.
 * @param synchs of several PEs, the likely best one first
 */
export async function choosePes(
  cpus: number,
  synchs: readonly Synchroniser[],
  trial: PesTrial,
): Promise<Choice> {
  if (cpus < 2) return { pes: 1, why: 'there is one CPU' };
  const alone = await trial(1, ALONE_SECONDS, undefined)
    .catch(() => trial(1, SLOW * ALONE_SECONDS, undefined))
    .catch(() => null);
  if (alone === null)
    return { pes: 1, why: `no run on one PE started within ${SLOW * ALONE_SECONDS} s` };
  const { wallSeconds, reached } = alone;
  if (reached >= 1) return { pes: 1, why: `the run takes ${wallSeconds.toFixed(2)} s` };
  const whole = reached > 0 ? wallSeconds / reached : Infinity;
  if (whole < WORTH_SECONDS) {
    return { pes: 1, why: `the run takes about ${whole.toFixed(1)} s, too short to try more PEs` };
  }
  let best: Pick<Choice, 'pes' | 'synch'> = { pes: 1 };
  let most = alone.eventRate * CLEARLY;
  const tried = [`1: ${short(alone.eventRate)}`];
  let left = whole / WORTH_SECONDS;
  for (let pes = cpus; pes > 1; pes >>= 1) {
    for (const synch of synchs) {
      if (left < 1) break;
      left--;
      const rate = (await trial(pes, TOGETHER_SECONDS, synch).catch(() => null))?.eventRate ?? 0;
      tried.push(`${pes} ${synch}: ${rate > 0 ? short(rate) : 'none'}`);
      if (rate <= most) continue;
      best = { pes, synch };
      most = rate;
    }
  }
  return { ...best, why: `events/s in short runs by PEs: ${tried.join(', ')}` };
}

/** How several PEs may be synchronised: as the user says, otherwise in the ways that a lookahead allows. */
function synchsFor(settings: Settings, lookahead: number): readonly Synchroniser[] {
  if (settings.synch !== undefined) return [settings.synch];
  const chosen = settings.maxOptLookahead !== undefined || !(lookahead > 0);
  return chosen ? ['optimistic'] : ['conservative', 'optimistic'];
}

/**
 * Replaces `--pes=auto` by a number, and with several PEs names their synchroniser; other settings stay as they are. Says on
 * stderr what was chosen, and why.
 * @throws UsageError where runs on several PEs would not be the same simulation
 */
export async function withPes(
  { loaded, settings, values }: RunCommand<typeof SIM_RUN_OPTIONS>,
  signal: AbortSignal,
): Promise<Settings> {
  if (settings.pes !== AUTO) return settings;
  const { model } = loaded;
  const alone = { ...settings, pes: 1 };
  const { options, lookahead } = configFor(model, alone);
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
  const trial: PesTrial = (pes, seconds, synched) => {
    const how = [`--pes=${pes}`, '--transport=threads'];
    if (synched !== undefined) how.push(`--synch=${synched}`);
    const args = [loaded.path ?? model.name, ...words, ...how];
    return trialRun({ args, seconds, signal, partly: true } satisfies TrialCall);
  };
  const { synch } = settings;
  const choice =
    synch !== undefined && runsOnOnePe(synch)
      ? { pes: 1, why: `--synch=${synch} has one` }
      : await choosePes(Math.min(cpus, lps), synchsFor(settings, lookahead), trial);
  const { pes, why } = choice;
  const said = pes === 1 ? '1 PE' : `${pes} PEs, ${choice.synch}`;
  process.stderr.write(`triscope: --pes=auto: ${said}; ${why}\n`);
  return { ...settings, ...(choice.synch !== undefined && { synch: choice.synch }), pes };
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
