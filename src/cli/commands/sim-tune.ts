/** `triscope sim tune MODEL [options]`: a faster setting for a model. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findAll } from '../../findings/index.ts';
import { short } from '../../model/measures/index.ts';
import { didYouMean } from '../../model/nearest.ts';
import { flag, float, int, text } from '../../model/option.ts';
import { scratchFolder } from '../../os/scratch.ts';
import { writeWhole } from '../../os/whole-file.ts';
import { openRecording } from '../../query/index.ts';
import { SYNCHRONISERS } from '../../sim/config.ts';
import type { LoadedModel } from '../../sim/load-model.ts';
import { ModelError } from '../../sim/model.ts';
import { configFor } from '../../sim/settings.ts';
import { type Advised, type Tuned, type TuneOptions, tune } from '../../sim/tune.ts';
import {
  candidates,
  fitting,
  KNOBS,
  type Knob,
  type KnobSettings,
} from '../../sim/tune-candidates.ts';
import { type Call, command, type OptionGroup } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import {
  ARGS_FILE_OPTION,
  modelExtension,
  RUNS_MODEL,
  type RunCommand,
  runCommandOf,
} from '../run-command.ts';
import { figure, painter, table } from '../table.ts';
import { trialRun } from '../trial-run.ts';

const TUNING = {
  json: flag(false, 'print one JSON object with every trial'),
  output: text('', 'write the setting to FILE, for --args-file', {
    placeholder: 'FILE',
    short: 'o',
    names: 'path',
  }),
  knobs: text('', 'settings that may be changed, separated by commas', {
    placeholder: 'batch,nkp,…',
  }),
  candidates: int(16, 'settings that the first round tries', { min: 2, max: 256 }),
  'trial-seconds': float(0.5, 'seconds per run of the first round', { min: 0.01 }),
  repeats: int(3, 'runs of the fastest and of the start setting at the end, in turns', { min: 1 }),
  'most-pes': int(0, 'most PEs', { min: 0, fallback: 'CPUs of this machine' }),
};
const OPTIONS = { ...TUNING, ...ARGS_FILE_OPTION };
const GROUPS: readonly OptionGroup[] = [{ title: 'Tuning', options: TUNING }];
const OWN = new Set(Object.keys(TUNING));

const OPTION_OF: Readonly<Record<Knob, string>> = {
  synch: 'synch',
  batch: 'batch',
  gvtInterval: 'gvt-interval',
  nkp: 'nkp',
  maxOptLookahead: 'max-opt-lookahead',
  pes: 'pes',
};

/** The words that are passed on to trials: all except this command's own options. */
function passedOn(args: readonly string[]): string[] {
  const words: string[] = [];
  for (let k = 0; k < args.length; k++) {
    const name = /^--([^=]+)/.exec(args[k])?.[1] ?? '';
    if (args[k].startsWith('-o')) k += args[k] === '-o' ? 1 : 0;
    else if (!OWN.has(name)) words.push(args[k]);
    else if (!args[k].includes('=') && name !== 'json') k++;
  }
  return words;
}

/** The word of a synchroniser's number. */
const synchOf = (number: number): string =>
  Object.entries(SYNCHRONISERS).find(([, one]) => one === number)?.[0] ?? String(number);

const shownOf = (settings: KnobSettings, knob: Knob): string =>
  knob === 'synch' ? synchOf(settings.synch) : String(settings[knob]);

/** Settings as words, such as `--batch=4`; a setting that is left to the engine has none. */
const wordsOf = (settings: KnobSettings): string[] =>
  KNOBS.filter((knob) => Number.isFinite(settings[knob])).map(
    (knob) => `--${OPTION_OF[knob]}=${shownOf(settings, knob)}`,
  );

/** The words of a run with these settings. Where the window is left to the engine, a window given by the user is removed. */
function wordsFor(words: readonly string[], settings: KnobSettings): string[] {
  const adaptive = !Number.isFinite(settings.maxOptLookahead);
  const window = '--max-opt-lookahead';
  const kept = words.filter(
    (word, k) =>
      !adaptive || !(word.startsWith(`${window}=`) || [word, words[k - 1]].includes(window)),
  );
  return [...kept, ...wordsOf(settings)];
}

/** What the findings of a run with the start settings advise about the settings that may change; empty if that run cannot be recorded. */
async function advisedBy(
  words: readonly string[],
  { start, knobs, synchGiven }: Plan,
  end: number,
  signal: AbortSignal,
): Promise<Advised[]> {
  const folder = scratchFolder('triscope-tune-');
  try {
    const name = join(folder.path, 'start');
    const sampled = [`--record=${name}`, '--engine-stats=rt', '--rt-interval=50', '--lp-data'];
    const args = [...wordsFor(words, start), `--end=${end}`, ...sampled];
    await trialRun({ args, seconds: LONGEST_RECORDED_SECONDS, signal });
    const recording = await openRecording(`${name}.tri`);
    try {
      return (await findAll(recording, { signal })).flatMap(({ rule, turn, gain }) => {
        const turned = Object.entries(turn ?? {}).flatMap(([option, value]) => {
          const knob = knobs.find((one) => OPTION_OF[one] === option);
          return knob === undefined ? [] : [[knob, value ?? Number.POSITIVE_INFINITY] as const];
        });
        const settings = fitting({ ...start, ...Object.fromEntries(turned) }, synchGiven);
        return turned.length === 0 ? [] : [{ rule, settings, expected: gain ?? null }];
      });
    } finally {
      await recording.close();
    }
  } catch {
    // Without findings, the candidates are tried all the same.
    return [];
  } finally {
    folder.remove();
  }
}

function knobsAsked(value: string | undefined): readonly Knob[] {
  if (value === undefined || value === '') return KNOBS;
  const byName = new Map(KNOBS.map((knob) => [OPTION_OF[knob], knob]));
  return value.split(',').map((name) => {
    const knob = byName.get(name.trim());
    if (knob !== undefined) return knob;
    throw new UsageError(
      `--knobs=${value}: there is no setting ${name}${didYouMean(name, [...byName.keys()])}; use ${[...byName.keys()].join(', ')}`,
    );
  });
}

interface Plan {
  readonly start: KnobSettings;
  readonly knobs: readonly Knob[];
  readonly lps: number;
  readonly end: number;
  readonly lookahead: number;
  readonly synchGiven: boolean;
  /** Why a setting is not changed. */
  readonly notes: readonly string[];
}

/** The start settings, and which of them may be changed. @throws OptionError, UsageError */
function planFor(
  { loaded: { model }, settings, own }: RunCommand<typeof OPTIONS>,
  mostPes: number,
): Plan {
  const config = configFor(model, settings);
  const { synch } = settings;
  if (
    synch !== undefined &&
    !['optimistic', 'optimistic-realtime', 'conservative'].includes(synch)
  ) {
    throw new UsageError(
      `--synch=${synch}: there is nothing to tune; leave it out, or use optimistic`,
    );
  }
  const lpsFor = (pes: number) => model.lps(config.options, { pes });
  const notes: string[] = [];
  let knobs = knobsAsked(own.knobs);
  // A synchroniser given by the user stays, unless `--knobs` names it.
  if (synch !== undefined && (own.knobs ?? '') === '')
    knobs = knobs.filter((knob) => knob !== 'synch');
  if (knobs.includes('pes') && lpsFor(config.pes) !== lpsFor(config.pes + 1)) {
    knobs = knobs.filter((knob) => knob !== 'pes');
    notes.push(
      `--pes stays at ${config.pes}: the model grows with the PEs, so that runs cannot be compared; fix its size (phold: --total-lps)`,
    );
  }
  if (config.pes === 1 && synch === undefined && !(knobs.includes('pes') && mostPes > 1)) {
    throw new UsageError(
      'with one PE the run is sequential and there is nothing to tune; give --pes, or --synch=optimistic',
    );
  }
  const { batch, gvtInterval, nkp, maxOptLookahead, pes, end, lookahead } = config;
  return {
    start: { synch: SYNCHRONISERS[config.synch], batch, gvtInterval, nkp, maxOptLookahead, pes },
    ...{ knobs, end, notes, lookahead, lps: lpsFor(pes) },
    synchGiven: synch !== undefined && !knobs.includes('synch'),
  };
}

/** Searches for a faster setting and prints it. Returns the exit code. @throws what a user did wrong, or the start setting's run */
async function run(call: Call<typeof OPTIONS, LoadedModel | null>): Promise<number> {
  const command = runCommandOf(call, OPTIONS);
  const { own, loaded } = command;
  const interrupt = onInterrupt();
  const progress = new ProgressLine(0);
  try {
    const mostPes = (own['most-pes'] ?? TUNING['most-pes'].default) || availableParallelism();
    const plan = planFor(command, mostPes);
    for (const note of plan.notes) process.stderr.write(`triscope: ${note}\n`);
    const words = passedOn(call.args);
    const trial: TuneOptions['run'] = (settings, end, seconds) =>
      trialRun({
        args: [...wordsFor(words, settings), `--end=${end}`],
        seconds,
        signal: interrupt.signal,
      });
    const tuned = await tune({
      advised: (end) => advisedBy(words, plan, end, interrupt.signal),
      ...{ run: trial, start: plan.start, end: plan.end, signal: interrupt.signal },
      candidates: (gvtStep) =>
        candidates({
          ...plan,
          count: own.candidates ?? TUNING.candidates.default,
          mostPes,
          gvtStep,
        }),
      trialSeconds: own['trial-seconds'] ?? TUNING['trial-seconds'].default,
      repeats: own.repeats ?? TUNING.repeats.default,
      onTrial: (what) => progress.show(what),
    });
    progress.clear();
    const output = own.output;
    if (typeof output === 'string' && output !== '') writeArgs(output, loaded.model.name, tuned);
    process.stdout.write(
      own.json === true
        ? `${JSON.stringify({ model: loaded.model.name, ...tuned, args: wordsOf(tuned.best) }, null, 2)}\n`
        : tunedText(loaded.model.name, tuned),
    );
    if (!tuned.complete) return EXIT.interrupted;
    return tuned.different.length > 0 ? EXIT.failed : 0;
  } catch (error) {
    progress.clear();
    if (!interrupt.signal.aborted) throw error;
    return EXIT.interrupted;
  } finally {
    interrupt.release();
  }
}

function verdict({ gain, certain, startRate, bestRate }: Tuned): string {
  if (gain === 1) return 'the start setting is the fastest of those tried';
  if (gain === null || startRate === null || bestRate === null)
    return 'not compared with the start setting';
  const rates = `${short(bestRate)} events/s, the start setting ${short(startRate)}`;
  const sure = certain ? '' : '; the runs overlap, so the gain may be chance';
  return `${gain.toFixed(2)} times the events per second of the start setting (medians: ${rates}${sure})`;
}

function writeArgs(file: string, model: string, tuned: Tuned): void {
  const lines = [`# ${model}: ${verdict(tuned)}`, ...wordsOf(tuned.best), ''];
  try {
    writeWhole(file, lines.join('\n'));
  } catch (error) {
    throw new ModelError(`-o ${file}: cannot be written: ${(error as Error).message}`);
  }
}

/** Seconds after which the recorded run of the start setting is given up. */
const LONGEST_RECORDED_SECONDS = 30;

/** Which finding was right. */
const advisedLines = ({ advised }: Tuned): string[] =>
  advised.map(({ rule, settings, expected, gain, best }) => {
    const how = gain === null ? 'failed' : `${gain.toFixed(2)} times the start setting at first`;
    const said = expected === null ? '' : ` (at most ${expected.toFixed(2)} expected)`;
    const right = gain !== null && gain > 1 ? 'was right' : 'was not right';
    return `finding ${rule} ${right}: ${wordsOf(settings).join(' ')}: ${how}${said}${best ? '; it is the fastest' : ''}`;
  });

/** Which synchroniser is the best, and by how much; nothing where only one was tried. */
const synchroniserLines = ({ synchronisers }: Tuned): string[] =>
  synchronisers.length < 2
    ? []
    : synchronisers.map(({ synch, settings, rate, share }) => {
        const pes = settings.pes === 1 ? '1 PE' : `${settings.pes} PEs`;
        if (rate === null || share === null) return `${synch} (${pes}): not compared`;
        const by = share === 1 ? 'the fastest synchroniser' : `${share.toFixed(2)} of the fastest`;
        return `${synch} (${pes}): ${short(rate)} events/s, ${by}`;
      });

/** Settings of the last rounds that are shown. */
const SHOWN = 8;

function tunedText(model: string, tuned: Tuned): string {
  const { bold, bad } = painter(process.stdout);
  const { best, trials, different, complete } = tuned;
  const header = [...KNOBS.map((knob) => OPTION_OF[knob]), 'end', 'events/s', 'efficiency %'];
  // Of each setting its longest run.
  const last = new Map(
    trials
      .filter(({ rung }) => rung > 0)
      .map((trial) => [wordsOf(trial.settings).join(' '), trial]),
  );
  const rows = [...last.values()]
    .sort((a, b) => b.rung - a.rung || (b.eventRate ?? -1) - (a.eventRate ?? -1))
    .slice(0, SHOWN)
    .map(({ settings, end, eventRate, efficiency, error }) => [
      ...KNOBS.map((knob) =>
        knob === 'synch'
          ? synchOf(settings.synch)
          : Number.isFinite(settings[knob])
            ? figure(settings[knob])
            : 'adaptive',
      ),
      figure(end),
      eventRate === null ? (error ?? 'failed').slice(0, 40) : short(eventRate),
      efficiency === null ? '' : efficiency.toFixed(1),
    ]);
  return `${[
    ...(rows.length > 0 ? table(header, rows) : []),
    '',
    bold(wordsOf(best).join(' ')),
    `${model}: ${complete ? '' : 'interrupted; so far: '}${verdict(tuned)}`,
    ...synchroniserLines(tuned),
    ...advisedLines(tuned),
    ...(different.length > 0
      ? [
          bad(
            `${different.length} runs committed different events: the model depends on how it is run; triscope sim verify ${model}`,
          ),
        ]
      : []),
  ].join('\n')}\n`;
}

export const simTune = command({
  ...RUNS_MODEL,
  about:
    'Tries synchronisers and settings of --batch, --gvt-interval, --nkp, --max-opt-lookahead and --pes in short runs (successive halving), and prints the fastest, with its gain over the given setting, and how fast the others are at their best. Options are those of triscope sim run. With -o FILE the setting is written as a file for --args-file.',
  options: OPTIONS,
  groups: GROUPS,
  examples: ['sim tune phold --total-lps=1024 --end=2000 -o phold.args'],
  extend: modelExtension(GROUPS),
  run,
});
