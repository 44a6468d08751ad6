/** Whether an MPI launcher started this process. Loads nothing. */
import { ABIS } from './abi.ts';

export interface LaunchedRank {
  readonly rank: number;
  readonly size: number;
  /** Ranks on this machine. */
  readonly local: number;
}

/** What the launcher's environment says; null where there is none. */
export function launchedRank(env: NodeJS.ProcessEnv = process.env): LaunchedRank | null {
  for (const { environment } of ABIS) {
    const rank = env[environment.rank];
    const size = env[environment.size];
    if (rank !== undefined && size !== undefined) {
      return { rank: Number(rank), size: Number(size), local: Number(env[environment.local] ?? 1) };
    }
  }
  return null;
}
