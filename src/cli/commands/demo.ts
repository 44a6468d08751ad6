/** `triscope demo` (npm start): a short tour. */
import { relative } from 'node:path';
import { loadModel } from '../../sim/load-model.ts';
import type { Settings } from '../../sim/settings.ts';
import { simulate } from '../../sim/simulate.ts';
import type { RunResult } from '../../sim/statistics.ts';
import { EXIT, UsageError } from '../errors.ts';
import { type Interrupt, onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import { painter, short } from '../table.ts';
import { version } from '../version.ts';

const USAGE = `usage: triscope demo [--json]

A tour in 20 seconds: an optimistic parallel simulation that proves itself right.`;

const LPS = 1024;
const WORKLOAD: Settings = { lookahead: 0.1, batch: 64, options: { 'total-lps': LPS } };

/** Virtual times: of a first short run, which also warms up, and the least and most to end at. */
const TRIAL_END = 300;
const LEAST_END = 1000;
const MOST_END = 20_000;
/** Seconds that a run may take, going by the short one. */
const PATIENCE = 1;

/** How far this machine gets in about a second. */
async function endFor(interrupt: Interrupt): Promise<number> {
  const trial = await run({ end: TRIAL_END, synch: 'sequential' }, interrupt);
  const end = (TRIAL_END * PATIENCE) / Math.max(trial.wallSeconds, 0.001);
  return Math.min(MOST_END, Math.max(LEAST_END, Math.round(end / 1000) * 1000));
}

/** How to call the program from here. */
function self(): string {
  const path = relative(process.cwd(), process.argv[1] ?? '');
  return path === 'bin/triscope' ? './bin/triscope' : 'triscope';
}

async function run(settings: Settings, interrupt: Interrupt): Promise<RunResult> {
  const progress = new ProgressLine(0);
  const loaded = await loadModel('phold');
  try {
    return await simulate(
      loaded,
      { ...WORKLOAD, ...settings },
      {
        signal: interrupt.signal,
        ...(progress.on && { onProgress: (now) => progress.update(now) }),
      },
    );
  } finally {
    progress.clear();
  }
}

const rate = (r: RunResult) =>
  `${r.netEvents.toLocaleString('en')} events in ${r.wallSeconds.toFixed(2)} s: ${short(r.eventRate)} events/s`;

const sameResult = (a: RunResult, b: RunResult) =>
  a.eventDigest === b.eventDigest && a.stateDigest === b.stateDigest;

/** Runs the tour. Returns the exit code. @throws UsageError */
export async function demo(args: readonly string[]): Promise<number> {
  if (args.some((word) => word === '-h' || word === '--help')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const stray = args.find((word) => word !== '--json');
  if (stray !== undefined) throw new UsageError(`unexpected ${stray}; demo takes only --json`);
  const json = args.length > 0;
  const say = (line = '') => {
    if (!json) process.stdout.write(`${line}\n`);
  };
  const { bold, dim, good, bad } = painter(process.stdout);
  const interrupt = onInterrupt();
  try {
    say(`${bold('triscope')} ${version()}: a tour of the simulator, under 20 seconds`);
    say();
    say(`PHOLD, the field’s benchmark: ${LPS} objects send each other events in virtual time.`);
    say('Each event makes the next one; a quarter of them go to an object drawn at random.');
    say();
    say(bold('1  Optimistic, on 2 threads'));
    say('   Each thread runs ahead without waiting. Where an event turns up late, what was done');
    say('   too early is rolled back and done again.');
    const end = await endFor(interrupt);
    const optimistic = await run({ end, synch: 'optimistic', pes: 2 }, interrupt);
    if (!optimistic.finished) return EXIT.interrupted;
    say(`   ${rate(optimistic)}`);
    const { totalRollbacks, efficiency } = optimistic;
    say(
      `   ${totalRollbacks.toLocaleString('en')} rollbacks, efficiency ${efficiency.toFixed(1)} %`,
    );
    say();
    say(bold('2  Sequential, on one thread'));
    say('   One event after the other: nothing to roll back, nothing to get wrong.');
    const sequential = await run({ end, synch: 'sequential' }, interrupt);
    if (!sequential.finished) return EXIT.interrupted;
    say(`   ${rate(sequential)}`);
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
    say();
    say('Next:');
    say(`   ${self()} sim run phold --pes=2 --nlp=512 --lookahead=0.1 --end=2000`);
    say(`   ${self()} sim verify phold --end=1000`);
    say(`   ${self()} sim models`);
    if (json)
      process.stdout.write(`${JSON.stringify({ same, optimistic, sequential }, null, 2)}\n`);
    return same ? 0 : EXIT.failed;
  } finally {
    interrupt.release();
  }
}
