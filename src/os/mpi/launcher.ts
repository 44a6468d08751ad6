/** Whether an MPI launcher started this process, and how to start one. Loads no library. */
import { availableParallelism } from 'node:os';
import { ABIS, type MpiAbi } from './abi.ts';

export interface LaunchedRank {
  readonly rank: number;
  readonly size: number;
  /** Rank among those of this machine, and how many these are. */
  readonly localRank: number;
  readonly local: number;
  /** Name of the job: no other job on this machine has it at the same time. */
  readonly job: string;
}

/** What the launcher's environment says; null if no launcher started this process. */
export function launchedRank(env: NodeJS.ProcessEnv = process.env): LaunchedRank | null {
  for (const { environment } of ABIS) {
    // All three variables: Slurm's own PMI sets rank and size for any program.
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

/** The MPI libraries, those whose launcher started this process first. */
export function likelyAbis(env: NodeJS.ProcessEnv = process.env): MpiAbi[] {
  const launched = ({ environment }: MpiAbi) => env[environment.localRank] !== undefined;
  return [...ABIS].sort((a, b) => Number(launched(b)) - Number(launched(a)));
}

/** Open MPI's launcher, with the settings that let it run as root and share CPUs. */
const MPIRUN = 'mpirun';
const AS_ROOT = '--allow-run-as-root';
const CROWDED = '--oversubscribe';

/** The words that start `ranks` ranks; the program's words follow. TRISCOPE_MPIRUN names another launcher and its options. */
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
