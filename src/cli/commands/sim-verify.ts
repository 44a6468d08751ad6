/** `triscope sim verify MODEL [options]`: checks that every synchroniser gives the same result, and shows where it differs. */
import { flag, int } from '../../model/option.ts';
import { launchedRank } from '../../os/mpi/launcher.ts';
import type { LoadedModel } from '../../sim/load-model.ts';
import { configFor } from '../../sim/settings.ts';
import { MOST_SEED } from '../../sim/transport/chaos.ts';
import { type VerifyOptions, type VerifyRow, verify } from '../../sim/verify.ts';
import type { ChaosRuns } from '../../sim/verify-cases.ts';
import { type Call, command, type OptionGroup } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import { mayBlock, onInterrupt } from '../interrupt.ts';
import { onRanks } from '../on-ranks.ts';
import { ProgressLine } from '../progress.ts';
import {
  ARGS_FILE_OPTION,
  modelExtension,
  RUNS_MODEL,
  type RunCommand,
  runCommandOf,
} from '../run-command.ts';
import { painter, table } from '../table.ts';
import { mostSharing, transportOptions, wantsRanks } from '../transport-option.ts';

/** Runs where no seed is given. */
const CHAOS_RUNS = 24;
const CHAOS_OPTIONS = {
  chaos: int(0, 'run with random delays and full buffers, determined by the seed', {
    min: 0,
    max: MOST_SEED,
    fallback: 'off; any seed if none is given',
    bare: '0',
    placeholder: 'SEED',
  }),
  'chaos-runs': int(CHAOS_RUNS, 'seeds to run, from that one on', {
    min: 1,
    max: 1_000_000,
    fallback: `${CHAOS_RUNS}; 1 where a seed is given`,
  }),
};

const TRANSPORT = transportOptions('mpi: also run over MPI', 'threads; mpi alone under mpirun');
const OUTPUT = { json: flag(false, 'print one JSON object') };
const OPTIONS = { ...TRANSPORT, ...CHAOS_OPTIONS, ...OUTPUT, ...ARGS_FILE_OPTION };
const GROUPS: readonly OptionGroup[] = [
  { title: 'Transport', options: TRANSPORT },
  { title: 'Chaos', options: CHAOS_OPTIONS },
  { title: 'Output', options: OUTPUT },
];
type Verify = RunCommand<typeof OPTIONS>;

/** The chaos runs that are asked for. @throws UsageError */
function chaosOf({ own }: Verify): ChaosRuns | undefined {
  const given = own.chaos;
  const runs = own['chaos-runs'];
  if (given === undefined) {
    if (runs !== undefined) throw new UsageError(`--chaos-runs=${runs}: needs --chaos`);
    return undefined;
  }
  const seed = Number(given);
  if (seed !== 0) return { first: seed, runs: Number(runs ?? 1) };
  return { first: 1 + Math.floor(Math.random() * 1e9), runs: Number(runs ?? CHAOS_RUNS) };
}

/** Ranks that runs over MPI have, where no launcher says how many. */
const RANKS = [2, 4];

/** Checks it. Returns the exit code. @throws what a user did wrong, or the sequential run */
async function start(call: Call<typeof OPTIONS, LoadedModel | null>): Promise<number> {
  const command = runCommandOf(call, OPTIONS);
  const chaos = chaosOf(command);
  const interrupt = onInterrupt(mayBlock(command.loaded));
  const progress = new ProgressLine(0);
  const onCase = (name: string, index: number, count: number) =>
    progress.show(`${index + 1}/${count}  ${name} …`);
  try {
    if (!wantsRanks(command)) return await onThreads(command, interrupt.signal, onCase, chaos);
    const { loaded, settings } = command;
    if (launchedRank() === null) {
      return await onBoth(command, call.args, interrupt.signal, onCase, chaos);
    }
    const { asRank } = await import('../ranks.ts');
    const { verifyRanks } = await import('../../sim/verify-rank.ts');
    const { signal } = interrupt;
    return await asRank(async (world) => {
      const rows = await verifyRanks(world, loaded, settings, {
        signal,
        onCase,
        mostSharing: mostSharing(command),
        ...(chaos && { chaos }),
      });
      progress.clear();
      return world.rank === 0 ? tell(command, rows, signal.aborted) : 0;
    });
  } finally {
    progress.clear();
    interrupt.release();
  }
}

type OnCase = NonNullable<VerifyOptions['onCase']>;

async function threadRows(
  { loaded, settings, own }: Verify,
  signal: AbortSignal,
  onCase: OnCase,
  chaos: ChaosRuns | undefined,
): Promise<VerifyRow[]> {
  const json = own.json === true;
  let written: readonly string[] = [];
  const rows = await verify(loaded, settings, {
    signal,
    onCase,
    onWritten: (variables) => {
      written = variables;
    },
    ...(chaos && { chaos }),
    ...(json && { console: process.stderr }),
  });
  if (written.length > 0) {
    process.stderr.write(
      `triscope: handlers write ${written.join(', ')}: variables outside of an LP’s state are not undone, and each PE has a copy of its own\n`,
    );
  }
  return rows;
}

async function onThreads(
  command: Verify,
  signal: AbortSignal,
  onCase: OnCase,
  chaos: ChaosRuns | undefined,
) {
  return tell(command, await threadRows(command, signal, onCase, chaos), signal.aborted);
}

/** On threads, then in jobs of ranks that this process starts. @throws MissingPieceError */
async function onBoth(
  command: Verify,
  args: readonly string[],
  signal: AbortSignal,
  onCase: OnCase,
  chaos: ChaosRuns | undefined,
): Promise<number> {
  const { runOnRanks } = await import('../ranks.ts');
  const { rowsOfJob } = await import('../verify-job.ts');
  const { loaded, settings } = command;
  const { options, pes } = configFor(loaded.model, settings);
  const lps = loaded.model.lps(options, { pes });
  const rows: VerifyRow[] = [];
  const seeds = chaos ? [`--chaos=${chaos.first}`, `--chaos-runs=${chaos.runs}`] : [];
  const words = ['sim', 'verify', ...args, '--transport=mpi', '--json', ...seeds];
  for (const ranks of RANKS.filter((n) => n <= lps)) {
    onCase(`${ranks} ranks`, ranks - 1, lps);
    const job = await runOnRanks(ranks, words, signal);
    if (signal.aborted) return tell(command, rows, true);
    rows.push(...rowsOfJob(ranks, job));
  }
  const threads = await threadRows(command, signal, onCase, chaos);
  return tell(command, compared(threads, rows), signal.aborted);
}

/** All rows; those over MPI must have the digests of the first. */
function compared(threads: readonly VerifyRow[], ranks: readonly VerifyRow[]): VerifyRow[] {
  const [truth] = threads as readonly (VerifyRow | undefined)[];
  const same = (row: VerifyRow) =>
    row.same && row.eventDigest === truth?.eventDigest && row.stateDigest === truth?.stateDigest;
  return [...threads, ...ranks.map((row) => ({ ...row, same: same(row) }))];
}

/** Prints the rows. Returns the exit code. */
function tell({ loaded, own }: Verify, rows: readonly VerifyRow[], interrupted: boolean): number {
  const same = rows.every((row) => row.same);
  const complete = !interrupted;
  const model = loaded.model.name;
  process.stdout.write(
    own.json === true
      ? `${JSON.stringify({ model, same, complete, runs: rows }, null, 2)}\n`
      : text(model, rows, same, complete),
  );
  if (!complete) return EXIT.interrupted;
  return same ? 0 : EXIT.failed;
}

function text(model: string, rows: readonly VerifyRow[], same: boolean, complete: boolean): string {
  const { good, bad } = painter(process.stdout);
  const or = (value: number | string | null) => (value === null ? '-' : String(value));
  const cells = rows.map((row) => [
    row.name,
    or(row.netEvents),
    or(row.rollbacks),
    row.wallSeconds === null ? '-' : row.wallSeconds.toFixed(3),
    or(row.eventDigest),
    or(row.stateDigest),
    row.same ? 'same' : row.error === undefined ? 'DIFFERENT' : 'FAILED',
  ]);
  const header = ['', 'events', 'rollbacks', 'seconds', 'event digest', 'state digest', ''];
  const [head, ...lines] = table(header, cells);
  const painted = lines.map((line, k) => (rows[k].same ? line : bad(line)));
  const reasons = rows
    .filter((row) => (row.error ?? row.difference) !== undefined)
    .map((row) => bad(`${row.name}: ${row.error ?? row.difference}`));
  const seeds = new Set(rows.filter((row) => !row.same).flatMap((row) => row.chaos ?? []));
  const repeat = [...seeds].map((seed) => bad(`chaos ${seed}: repeat with --chaos=${seed}`));
  const differing = rows.filter((row) => !row.same).length;
  const last = !complete
    ? `${model}: interrupted after ${rows.length} runs`
    : same
      ? good(`${model}: all ${rows.length} runs commit the same events and end in the same state`)
      : bad(`${model}: ${differing} of ${rows.length} runs differ from the sequential one`);
  return `${[head, ...painted, ...reasons, ...repeat, last].join('\n')}\n`;
}

export const simVerify = command({
  ...RUNS_MODEL,
  about:
    'Runs MODEL under every synchroniser, with several numbers of PEs, KPs and batches, and compares what is committed and the states at the end with the sequential run’s. Options are those of triscope sim run; --pes sizes the model. --transport=mpi also runs it on 2 and 4 ranks; under mpirun only on those ranks. --chaos instead runs it with the smallest rings and batches and random delays; --chaos=SEED repeats one such run. Where runs differ, the first difference is printed, and the exit code is 1.',
  options: OPTIONS,
  groups: GROUPS,
  examples: ['sim verify phold --end=100', 'sim verify phold --chaos --end=50'],
  extend: modelExtension(GROUPS),
  around: onRanks,
  run: start,
});
