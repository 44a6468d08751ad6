/** Starts programs as the ranks of an MPI job, as a user does. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const HAS_MPI = spawnSync('mpirun', ['--version']).status === 0;
export const NEEDS_MPI = HAS_MPI ? '' : ' (needs openmpi-bin, libopenmpi-dev)';

const TRISCOPE = fileURLToPath(new URL('../../../bin/triscope', import.meta.url));
/** A job that takes longer hangs. */
const PATIENCE = 280_000;

export interface JobOutcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `node …args` on `ranks` ranks of this machine, which may have fewer CPUs. */
export function mpirun(
  ranks: number,
  args: readonly string[],
  meanwhile?: (job: ChildProcess) => void,
): Promise<JobOutcome> {
  const root = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
  const job = spawn(
    'mpirun',
    [...root, '--oversubscribe', '-np', `${ranks}`, process.execPath, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return outcomeOf(job, meanwhile);
}

/** What comes of a job. One that takes too long is ended. */
export function outcomeOf(
  job: ChildProcess,
  meanwhile?: (job: ChildProcess) => void,
): Promise<JobOutcome> {
  const overdue = setTimeout(() => job.kill('SIGTERM'), PATIENCE);
  let out = '';
  let err = '';
  job.stdout?.on('data', (data) => {
    out += data;
  });
  job.stderr?.on('data', (data) => {
    err += data;
  });
  meanwhile?.(job);
  return new Promise((resolve) =>
    job.on('close', (code) => {
      clearTimeout(overdue);
      resolve({ code, out, err });
    }),
  );
}

/** Runs `triscope …args` so. */
export function ranksOf(
  ranks: number,
  args: readonly string[],
  meanwhile?: (job: ChildProcess) => void,
): Promise<JobOutcome> {
  return mpirun(ranks, [TRISCOPE, ...args], meanwhile);
}
