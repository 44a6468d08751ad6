/** Whether an MPI launcher started this process, and how to start one. Loads nothing. */
import { availableParallelism } from 'node:os';
import { ABIS, OPEN_MPI } from './abi.ts';

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
    const rank = env[environment.rank];
    const size = env[environment.size];
    if (rank !== undefined && size !== undefined) {
      return {
        rank: Number(rank),
        size: Number(size),
        localRank: Number(env[environment.localRank] ?? 0),
        local: Number(env[environment.local] ?? 1),
        job: env[environment.job] ?? `${process.ppid}`,
      };
    }
  }
  return null;
}

/** The words that start `ranks` ranks; a program's follow. TRISCOPE_MPIRUN is another launcher with its options. */
export function mpirunWords(ranks: number): string[] {
  const own = process.env.TRISCOPE_MPIRUN?.split(/\s+/).filter(Boolean) ?? [];
  if (own.length > 0) return [...own, '-np', `${ranks}`];
  const { launcher } = OPEN_MPI;
  return [
    launcher.file,
    ...(process.getuid?.() === 0 ? launcher.asRoot : []),
    ...(ranks > availableParallelism() ? launcher.crowded : []),
    '-np',
    `${ranks}`,
  ];
}
