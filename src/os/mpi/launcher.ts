/** Whether an MPI launcher started this process, and how to start one. Loads nothing. */
import { availableParallelism } from 'node:os';
import { ABIS, type MpiAbi } from './abi.ts';

export interface LaunchedRank {
  readonly rank: number;
  readonly size: number;
  /** Rank among those of this machine, and how many these are. */
  readonly localRank: number;
  readonly local: number;
  /** Of the job: no other on this machine has it at the same time. */
  readonly job: string;
}

/** What the launcher's environment says; null where there is none. */
export function launchedRank(env: NodeJS.ProcessEnv = process.env): LaunchedRank | null {
  for (const { environment } of ABIS) {
    // All three: Slurm's own PMI sets rank and size for any program.
    const [rank, size, localRank] = [environment.rank, environment.size, environment.localRank].map(
      (name) => env[name],
    );
    if (rank === undefined || size === undefined || localRank === undefined) continue;
    return {
      rank: Number(rank),
      size: Number(size),
      localRank: Number(localRank),
      local: Number(env[environment.local] ?? 1),
      job: (environment.job === null ? null : env[environment.job]) ?? `${process.ppid}`,
    };
  }
  return null;
}

/** The libraries whose launcher started this process first. */
export function likelyAbis(env: NodeJS.ProcessEnv = process.env): MpiAbi[] {
  const launched = ({ environment }: MpiAbi) => env[environment.localRank] !== undefined;
  return [...ABIS].sort((a, b) => Number(launched(b)) - Number(launched(a)));
}

/** Open MPI's launcher, and how it is told that it may run as root and share CPUs. */
const MPIRUN = 'mpirun';
const AS_ROOT = '--allow-run-as-root';
const CROWDED = '--oversubscribe';

/** The words that start `ranks` ranks; a program's follow. TRISCOPE_MPIRUN is another launcher with its options. */
export function mpirunWords(ranks: number): string[] {
  const own = process.env.TRISCOPE_MPIRUN?.split(/\s+/).filter(Boolean) ?? [];
  if (own.length > 0) return [...own, '-np', `${ranks}`];
  return [
    MPIRUN,
    ...(process.getuid?.() === 0 ? [AS_ROOT] : []),
    ...(ranks > availableParallelism() ? [CROWDED] : []),
    '-np',
    `${ranks}`,
  ];
}
