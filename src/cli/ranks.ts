/** A command as the ranks of an MPI job: under a launcher, or by starting one. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { MissingPieceError } from '../model/error.ts';
import { launchedRank, mpirunWords } from '../os/mpi/launcher.ts';
import { MpiWorld } from '../os/mpi/world.ts';
import { EXIT, exitCodeFor, lineFor, UsageError } from './errors.ts';
import { leave } from './leave.ts';
import { version } from './version.ts';

/** Milliseconds for which other ranks wait, so that rank 0 reports an error that all of them have. */
const DEFERENCE_MS = 1500;

/** Milliseconds before a rank ends all: MPICH's launcher drops what it has not read by then. */
const LAST_WORDS_MS = 100;

/** Fails with an error that all ranks have: rank 0 reports it first. */
export async function failRank(error: unknown): Promise<number> {
  const rank = launchedRank()?.rank ?? 0;
  if (rank > 0) await sleep(DEFERENCE_MS);
  process.stderr.write(`${lineFor(error)}${rank > 0 ? ` (rank ${rank})` : ''}\n`);
  return exitCodeFor(error);
}

/** Runs `command` as one rank. Returns the exit code; a failure ends all ranks. @throws MissingPieceError */
export async function asRank(command: (world: MpiWorld) => Promise<number>): Promise<number> {
  const world = new MpiWorld();
  if (world.caution !== null && world.rank === 0) {
    process.stderr.write(`triscope: ${world.caution}\n`);
  }
  try {
    const code = await command(world);
    world.close();
    return code;
  } catch (error) {
    const code = exitCodeFor(error);
    // Rank 0 reports for all ranks an error that all of them have.
    if (code === EXIT.usage && world.rank > 0) await sleep(DEFERENCE_MS);
    process.stderr.write(`${lineFor(error)} (rank ${world.rank})\n`);
    await sleep(LAST_WORDS_MS);
    world.abort(code);
    return leave(code);
  }
}

/** All ranks must run the same, with the same version. @throws UsageError on rank 0, which ends the job */
export function expectSameCommand(world: MpiWorld, args: readonly string[]): void {
  const words = [`triscope ${version()}`, ...args];
  const all = world.gather(Buffer.from(JSON.stringify(words)));
  const [first = [], ...others] = (all ?? []).map(
    (bytes) => JSON.parse(Buffer.from(bytes).toString()) as string[],
  );
  others.forEach((other, k) => {
    const longer = Math.max(first.length, other.length);
    const at = Array.from({ length: longer }, (_, i) => i).find((i) => first[i] !== other[i]);
    if (at === undefined) return;
    const [a, b] = [first, other].map((of) => of[at] ?? 'nothing');
    throw new UsageError(
      `rank ${k + 1} was started with ${b} but rank 0 with ${a}: all ranks must run the same command`,
    );
  });
  world.meet();
}

export interface JobOutcome {
  /** Null where a signal ended the launcher. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `triscope …args` on `ranks` ranks. The first abort interrupts it. @throws MissingPieceError */
export function runOnRanks(
  ranks: number,
  args: readonly string[],
  signal: AbortSignal,
): Promise<JobOutcome> {
  const [file, ...words] = mpirunWords(ranks);
  const program = [process.execPath, process.argv[1] ?? 'triscope'];
  // A group of its own: a terminal's Ctrl-C comes to us, and is passed on once.
  const job = spawn(file, [...words, ...program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const interrupt = () => job.kill('SIGINT');
  signal.addEventListener('abort', interrupt);
  let out = '';
  let err = '';
  job.stdout.on('data', (data) => {
    out += data;
  });
  job.stderr.on('data', (data) => {
    err += data;
  });
  return new Promise((resolve, reject) => {
    job.on('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', interrupt);
      const why = error.code === 'ENOENT' ? 'there is no such command' : error.message;
      reject(
        new MissingPieceError(
          `cannot run ${file}: ${why}: apt-get install openmpi-bin; or set TRISCOPE_MPIRUN to your launcher`,
        ),
      );
    });
    job.on('close', (code) => {
      signal.removeEventListener('abort', interrupt);
      resolve({ code, out, err });
    });
  });
}
