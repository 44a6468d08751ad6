/** `triscope demo` (npm start): a short tour. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { recordingFolder } from '../../formats/recording-folder.ts';
import { type LiveServer, startServer } from '../../live/index.ts';
import { percent, short } from '../../model/measures/index.ts';
import { flag } from '../../model/option.ts';
import { checkRecording, RECORDING_FILE } from '../../model/recording.ts';
import { allowedCpus } from '../../os/affinity.ts';
import { loadModel } from '../../sim/load-model.ts';
import type { Settings } from '../../sim/settings.ts';
import { type Progress, simulate } from '../../sim/simulate.ts';
import type { RunResult } from '../../sim/statistics.ts';
import { type Call, command } from '../command.ts';
import { PROGRAM_CALL, PROGRAM_RECORDING, recordProgram } from '../demo-program.ts';
import { explain, whyOf } from '../demo-told.ts';
import { EXIT } from '../errors.ts';
import { Hog } from '../hog.ts';
import { type Interrupt, onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import { type RecordedRun, recordedRun } from '../recorded-run.ts';
import { painter } from '../table.ts';
import { version } from '../version.ts';

const OPTIONS = {
  json: flag(false, 'one object at the end, nothing else'),
  'no-wait': flag(false, 'no page: end when the tour does'),
};

const COMMAND = ['triscope', 'demo'];

/** Cells along each side. Most calls stay on their PE, so that two threads share the model well. */
const SIDE = 64;
const MODEL = 'pcs';
const WORKLOAD: Settings = { batch: 64, options: { width: SIDE, height: SIDE } };
/** Virtual time that a thread may go ahead, eight lookaheads: left to themselves, two threads go in step and undo nothing. */
const AHEAD = 2;

/** Virtual times: of a first short run, and the least and most to end at. */
const TRIAL_END = 60;
const LEAST_END = 40;
const MOST_END = 100_000;
/** Seconds that one thread may take, going by the short run: long enough beside V8’s warm-up, which takes CPUs too; enough to be watched. */
const MOST_RUN_SECONDS = 4;
const WATCHED_SECONDS = 6;

/** How far this machine gets in so many seconds, once V8 has compiled the model. */
async function endFor(seconds: number, interrupt: Interrupt): Promise<number> {
  const warm = new Rate(0.5, 1);
  const trial = await run({ end: TRIAL_END, synch: 'sequential' }, interrupt, warm);
  const end = (TRIAL_END * seconds * (warm.rate ?? trial.eventRate)) / Math.max(1, trial.netEvents);
  return Math.min(MOST_END, Math.max(LEAST_END, Math.round(end / 10) * 10));
}

/**
 * The PE that is slowed, when: shares of the run's virtual time; by how many processes that want its CPU; and for which
 * part of the seconds that the run is meant to take, at most.
 */
const SLOWED = { pe: 1, from: 0.45, to: 0.75, processes: 2, most: 0.6 };

/** Takes CPU time from one PE midway. */
class Slowing {
  private readonly cpus = allowedCpus();
  private readonly most: number;
  private hog: Hog | null = null;
  private done = false;

  /** `seconds`: what the run is meant to take. */
  constructor(seconds: number) {
    this.most = SLOWED.most * seconds;
  }

  /** Whether there is a CPU of which time can be taken, and others. */
  get possible(): boolean {
    return this.cpus.length > SLOWED.pe;
  }

  at({ gvt, end }: Progress): void {
    const isMidway = gvt >= SLOWED.from * end && gvt < SLOWED.to * end;
    if (isMidway && !this.done && this.possible) {
      this.done = true;
      this.hog = new Hog(this.cpus[SLOWED.pe], SLOWED.processes, this.most);
    } else if (!isMidway) this.end();
  }

  end(): void {
    this.hog?.end();
    this.hog = null;
  }
}

/** The rate at which a run commits between two shares of its virtual time, by its progress. */
class Rate {
  private first: Progress | null = null;
  private last: Progress | null = null;

  private readonly from: number;
  private readonly to: number;

  constructor(from: number, to: number) {
    this.from = from;
    this.to = to;
  }

  at(progress: Progress): void {
    const { gvt, end } = progress;
    if (gvt < this.from * end || gvt >= this.to * end) return;
    this.first ??= progress;
    this.last = progress;
  }

  /** Events a second; null where it was over too soon. */
  get rate(): number | null {
    const { first, last } = this;
    if (first === null || last === null || last.seconds === first.seconds) return null;
    return (last.committed - first.committed) / (last.seconds - first.seconds);
  }
}

/** Share of a run’s virtual time by which V8 has compiled the model. */
const WARM = 0.2;
const undisturbed = () => new Rate(WARM, SLOWED.from);

/** How to call the program from here. */
function self(): string {
  const path = relative(process.cwd(), process.argv[1] ?? '');
  return path === 'bin/triscope' ? './bin/triscope' : 'triscope';
}

async function run(
  settings: Settings,
  interrupt: Interrupt,
  rate = undisturbed(),
): Promise<RunResult> {
  const progress = new ProgressLine(0);
  const loaded = await loadModel(MODEL);
  try {
    return await simulate(
      loaded,
      { ...WORKLOAD, ...settings },
      {
        signal: interrupt.signal,
        onProgress: (now) => {
          rate.at(now);
          if (progress.on) progress.update(now);
        },
      },
    );
  } finally {
    progress.clear();
  }
}

/** Folders of the demo's recordings, of two threads and of one; made anew each time. */
const RECORDING = 'demo.tri';
const ONE_RECORDING = 'demo-one.tri';
/** What both record of PEs and KPs. */
const INSTRUMENT = {
  engine: { gvt: true, rt: false, vt: false },
  levels: { pe: true, kp: true, lp: false },
  numGvt: 10,
} as const;
/** Of the animation of cells. */
const FRAMES = 24;
/** Milliseconds between samples of the node. */
const NODE_INTERVAL_MS = 50;

/** Removes what an earlier demo left, and nothing else. */
function clearRecording(folder: string, command: readonly string[]): void {
  const file = join(folder, RECORDING_FILE);
  if (!existsSync(file)) return;
  try {
    const { madeBy } = checkRecording(JSON.parse(readFileSync(file, 'utf8')));
    if (madeBy.command.join(' ') === command.join(' ')) rmSync(folder, { recursive: true });
  } catch {
    // The folder is not the tour's: making the recording then fails and says that it exists.
  }
}

async function recordOptimistic(
  interrupt: Interrupt,
  say: ((line: string) => void) | null,
  rate: Rate,
): Promise<RecordedRun & { readonly end: number }> {
  clearRecording(RECORDING, COMMAND);
  const progress = new ProgressLine(0);
  const loaded = await loadModel(MODEL);
  const seconds = say === null ? MOST_RUN_SECONDS : WATCHED_SECONDS;
  const slowing = new Slowing(seconds);
  let end = 0;
  const settings = async (): Promise<Settings> => {
    end = await endFor(seconds, interrupt);
    return { ...WORKLOAD, end, synch: 'optimistic', maxOptLookahead: AHEAD };
  };
  try {
    const recorded = await recordedRun(loaded, settings, {
      name: RECORDING,
      command: COMMAND,
      pes: 2,
      nodeInterval: NODE_INTERVAL_MS,
      frames: FRAMES,
      instrument: { ...INSTRUMENT, trace: 'rollbacks' },
      signal: interrupt.signal,
      onProgress: (now) => {
        slowing.at(now);
        rate.at(now);
        if (progress.on) progress.update(now);
      },
      ...(say !== null && { onPage: (url) => say(`   Watch it: ${url}`) }),
    });
    return { ...recorded, end };
  } finally {
    slowing.end();
    progress.clear();
    loaded.dispose();
  }
}

async function recordSequential(
  end: number,
  interrupt: Interrupt,
  rate: Rate,
): Promise<RecordedRun> {
  clearRecording(ONE_RECORDING, COMMAND);
  const progress = new ProgressLine(0);
  const loaded = await loadModel(MODEL);
  try {
    return await recordedRun(loaded, async () => ({ ...WORKLOAD, end, synch: 'sequential' }), {
      name: ONE_RECORDING,
      command: COMMAND,
      pes: 1,
      nodeInterval: NODE_INTERVAL_MS,
      frames: FRAMES,
      instrument: INSTRUMENT,
      signal: interrupt.signal,
      onProgress: (now) => {
        rate.at(now);
        if (progress.on) progress.update(now);
      },
    });
  } finally {
    progress.clear();
    loaded.dispose();
  }
}

/** Shows both recordings under the address where the first was shown live: an open page goes on. */
async function shownAnew(server: LiveServer, recordings: readonly string[]): Promise<LiveServer> {
  const token = new URL(server.url).searchParams.get('token');
  await server.close();
  return startServer({ recordings, port: server.port, ...(token !== null && { token }) });
}

const rate = (r: RunResult) =>
  `${r.netEvents.toLocaleString('en')} events in ${r.wallSeconds.toFixed(2)} s: ${short(r.eventRate)} events/s`;

const PROOF =
  'Proved: the parallel result is the same as the sequential one, event for event (digests of events and states).';

const sameResult = (a: RunResult, b: RunResult) =>
  a.eventDigest === b.eventDigest && a.stateDigest === b.stateDigest;

/** Compares two threads with one, whichever was faster: from the end of the warm-up to the time at which one PE is slowed. */
function gain(two: Rate, one: Rate): string | null {
  if (two.rate === null || one.rate === null) return null;
  const times = two.rate / one.rate;
  const rates = `${short(two.rate)} events/s against ${short(one.rate)}, both recorded`;
  const when = '   Once warm, and before the other work began, two threads were';
  return times >= 1
    ? `${when} ${times.toFixed(2)} times as fast as one: ${rates}.`
    : `${when} slower, at ${times.toFixed(2)} times the rate of one: ${rates}.`;
}

/** A program that nobody changed: the last step, where there is one. */
async function anyProgram(say: (line?: string) => void, title: string): Promise<boolean> {
  say(title);
  say(
    '   triscope record runs any program, not only simulations, and records its machine, its threads',
  );
  say(
    '   and the regions that it marks. Here is an example in C or Python, which prints a number:',
  );
  const folder = recordingFolder(PROGRAM_RECORDING);
  const clear = () => clearRecording(folder, ['triscope', 'record', ...PROGRAM_CALL]);
  const done = await recordProgram(clear, (line) => say(`   ${line}`));
  if (!done)
    say('   This step is left out: it needs cc or python3, and a checkout with the examples.');
  say();
  return done;
}

/** Runs the tour. Returns the exit code. */
async function tour({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const json = given.json === true;
  const waits = !json && !given['no-wait'] && process.stdout.isTTY === true;
  const say = (line = '') => {
    if (!json) process.stdout.write(`${line}\n`);
  };
  const { bold, dim, good, bad } = painter(process.stdout);
  const interrupt = onInterrupt();
  let server: LiveServer | null = null;
  try {
    say(`${bold('triscope')} ${version()}: a tour of half a minute`);
    say();
    say(
      `A mobile phone network of ${SIDE} × ${SIDE} cells: in virtual time calls begin, move on to`,
    );
    say(
      'the next cell and end; each event makes others, now and then for a cell of the other thread.',
    );
    say();
    say(bold('1  Optimistic, on 2 threads'));
    say('   Each thread may run ahead of the other. Where an event turns up late, what was done');
    say('   too early is rolled back and done again. Midway, other work takes most of the CPU of');
    say(
      `   PE ${SLOWED.pe}, on purpose: it falls behind, and what it sends late is undone elsewhere.`,
    );
    const two = undisturbed();
    const recorded = await recordOptimistic(interrupt, waits ? say : null, two);
    const { end } = recorded;
    server = recorded.server;
    const optimistic = recorded.result;
    if (!optimistic.finished) return EXIT.interrupted;
    say(`   ${rate(optimistic)}`);
    const { totalRollbacks, efficiency } = optimistic;
    say(`   ${totalRollbacks.toLocaleString('en')} rollbacks, efficiency ${percent(efficiency)}`);
    say();
    say(bold('2  Sequential, on one thread'));
    say('   One event after the other: nothing to roll back, nothing to get wrong.');
    const one = undisturbed();
    const alone = await recordSequential(end, interrupt, one);
    const sequential = alone.result;
    if (!sequential.finished) return EXIT.interrupted;
    say(`   ${rate(sequential)}`);
    const gained = gain(two, one);
    if (gained !== null) say(gained);
    say();
    const same = sameResult(optimistic, sequential);
    say(bold('3  The proof'));
    say(
      same
        ? good('   The parallel result is the same as the sequential one, event for event:')
        : bad('   The results differ. This is a bug: please report it.'),
    );
    say(dim(`   events  ${optimistic.eventDigest}  ${sequential.eventDigest}`));
    say(dim(`   states  ${optimistic.stateDigest}  ${sequential.stateDigest}`));
    if (same) server?.update({ proof: PROOF });
    say();
    say(bold('4  One timeline'));
    say(
      '   Recorded beside each other: samples of each PE at every tenth GVT, every rollback, the',
    );
    say(
      `   regions that PEs mark (geopm.report), all that the node counts, and ${FRAMES} frames of the cells.`,
    );
    say('   What SQL joins of it:');
    const told = await explain(recorded.path);
    for (const line of told.lines) say(`   ${line}`);
    say();
    say(bold('5  What changed'));
    say(
      `   Two recordings compared: A is ${recorded.path}, on two threads, B is ${alone.path}, on one.`,
    );
    if (!json) say(`   ${await whyOf(recorded.path, alone.path)}`);
    say();
    const hasProgram = !json && (await anyProgram(say, bold('6  Any program')));
    if (interrupt.signal.aborted) return EXIT.interrupted;
    if (server !== null) {
      server = await shownAnew(server, [recorded.path, alone.path]);
      if (same) server.update({ proof: PROOF });
    }
    say('Next:');
    say(`   ${self()} serve ${recorded.path} ${alone.path}`);
    say(`   ${self()} diff ${recorded.path} ${alone.path}`);
    say(`   ${self()} query ${recorded.path} "SELECT * FROM pe_on_node LIMIT 5"`);
    say(`   ${self()} read ${join(recorded.path, 'stats-output')} --format csv`);
    say(`   ${self()} info ${recorded.path}`);
    say(`   ${self()} sim run pcs --width=64 --height=64 --end=1000 --pes=auto`);
    say(`   ${self()} sim verify pcs --end=100`);
    say(`   ${self()} sim models`);
    if (hasProgram) say(`   ${self()} record -- ./your-program`);
    if (json)
      process.stdout.write(
        `${JSON.stringify({ same, optimistic, sequential, pes: told.pes, findings: told.findings }, null, 2)}\n`,
      );
    if (server !== null) {
      say();
      say(`${bold(server.url)} shows it, until Ctrl-C.`);
      await new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve));
    }
    return same ? 0 : EXIT.failed;
  } finally {
    interrupt.writing();
    interrupt.release();
    await server?.close();
  }
}

export const demo = command({
  about:
    'A tour of half a minute: an optimistic parallel simulation that proves itself right, recorded in demo.tri with what its PEs’ CPUs were doing, and compared with the same run on one thread. On a terminal, a page shows it live, until Ctrl-C.',
  options: OPTIONS,
  examples: ['demo', 'demo --no-wait'],
  run: tour,
});
