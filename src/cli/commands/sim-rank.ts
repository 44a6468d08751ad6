/** `mpirun -np N triscope sim run MODEL [options]`: this process is one rank, with one PE. */
import { setTimeout as sleep } from 'node:timers/promises';
import { launchedRank } from '../../os/mpi/launcher.ts';
import { MpiWorld } from '../../os/mpi/world.ts';
import { INSTRUMENT_OPTIONS } from '../../sim/instrument/options.ts';
import type { OutputLine } from '../../sim/pe.ts';
import { simulateRank } from '../../sim/simulate-rank.ts';
import type { RunResult } from '../../sim/statistics.ts';
import { EXIT, exitCodeFor, lineFor, UsageError } from '../errors.ts';
import { leave } from '../leave.ts';
import { ProgressLine } from '../progress.ts';
import { resultJson } from '../result-json.ts';
import { appendCsv } from '../ross-csv.ts';
import { reportText } from '../ross-report.ts';
import type { RunCommand } from '../run-command.ts';

/** Milliseconds that other ranks leave rank 0 to say what is wrong with all of them. */
const DEFERENCE = 1500;

/** What is the matter with the command, the same on all ranks: the first to say so is rank 0. */
export async function failRank(error: unknown): Promise<number> {
  const rank = launchedRank()?.rank ?? 0;
  if (rank > 0) await sleep(DEFERENCE);
  process.stderr.write(`${lineFor(error)}${rank > 0 ? ` (rank ${rank})` : ''}\n`);
  return exitCodeFor(error);
}

/** Runs it. Returns the exit code; a failure ends all ranks. */
export async function simRank(
  { loaded, settings, own }: RunCommand,
  signal: AbortSignal,
): Promise<number> {
  const unfit = ['record', 'stream', ...Object.keys(INSTRUMENT_OPTIONS)].find((name) =>
    own.has(name),
  );
  if (unfit !== undefined) {
    throw new UsageError(
      `--${unfit} does not work over MPI: use --transport=threads on one machine`,
    );
  }
  const world = new MpiWorld();
  try {
    const code = await run(world, { loaded, settings, own }, signal);
    world.close();
    return code;
  } catch (error) {
    const code = exitCodeFor(error);
    // What the others say too, rank 0 says for all.
    if (code === EXIT.usage && world.rank > 0) await sleep(DEFERENCE);
    process.stderr.write(`${lineFor(error)} (rank ${world.rank})\n`);
    world.abort(code);
    return leave(code);
  }
}

async function run(
  world: MpiWorld,
  { loaded, settings, own }: RunCommand,
  signal: AbortSignal,
): Promise<number> {
  if (settings.pes !== undefined && settings.pes !== world.size) {
    throw new UsageError(
      `--pes=${settings.pes}: over MPI there is one PE per rank, and there are ${world.size}; leave --pes out`,
    );
  }
  const json = own.get('json') === true;
  const progress = new ProgressLine(settings.reportInterval ?? 0.01);
  const { finished, result } = await simulateRank(world, loaded, settings, {
    signal,
    onOutput: (lines: readonly OutputLine[]) => {
      const out = json ? process.stderr : process.stdout;
      out.write(`${lines.map((line) => line.text).join('\n')}\n`);
    },
    ...(world.rank === 0 && progress.on && { onProgress: (now) => progress.update(now) }),
  });
  progress.clear();
  if (result !== null) print(result, json, own.get('ross-csv'));
  return finished ? 0 : EXIT.interrupted;
}

function print(result: RunResult, json: boolean, csv: unknown): void {
  process.stdout.write(json ? resultJson(result) : reportText(result));
  if (typeof csv === 'string') appendCsv(csv, result);
}
