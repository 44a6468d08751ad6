/** Reports of two ranks that were so long in each region, and raw stats of GPUs. */
import { writeFileSync } from 'node:fs';
import { NOON } from '../../query/support/recording.ts';
import { newPath } from './findings.ts';
import { reportText } from './machine.ts';

/** Seconds by region of each rank, of ten. */
export function rankReport(...ranks: readonly Readonly<Record<string, number>>[]): string {
  const path = newPath('.report');
  const processes = ranks.map((regions, rank) => {
    const lines = Object.entries(regions).map(
      ([region, runtime]) =>
        `            - region: "${region}"\n              count: 1\n              runtime (s): ${runtime}`,
    );
    return `        - pid: ${100 + rank}
          name: "app"
          rank: ${rank}
          runtime (s): 10
          unmarked (s): 1
          regions:
${lines.join('\n')}`;
  });
  const own = `    Triscope:\n      complete: true\n      processes:\n${processes.join('\n')}\n`;
  writeFileSync(path, `${reportText([])}${own}`);
  return path;
}

/** Percent in which a kernel ran, every ten seconds, of each GPU. */
export function gpus(...all: readonly (readonly number[])[]): string {
  const path = newPath('.raw');
  const groups = all[0].map((_, k) =>
    [
      '',
      `${NOON + 10 * k} 7 h1`,
      ...all.map((values, gpu) => `nvidia_gpu ${gpu} ${values[k]}`),
    ].join('\n'),
  );
  const head = '$tacc_stats 2.3.5\n$hostname h1\n!nvidia_gpu utilization';
  writeFileSync(path, `${head}\n${groups.join('\n')}\n`);
  return path;
}

/** By rule: the recording beyond, and the one short. */
export const RANK_PAIRS: readonly (readonly [string, () => string, () => string])[] = [
  [
    'mpi-share',
    () => rankReport({ MPI_Barrier: 3.1, MPI_Init: 5 }, { MPI_Barrier: 3.1 }),
    () => rankReport({ MPI_Barrier: 2.9, MPI_Init: 5 }, { MPI_Barrier: 2.9 }),
  ],
  [
    'rank-imbalance',
    () => rankReport({ MPI_Barrier: 2.1, solve: 4 }, { MPI_Barrier: 1, solve: 5 }),
    () => rankReport({ MPI_Barrier: 1.9, solve: 4 }, { MPI_Barrier: 1, solve: 5 }),
  ],
  ['idle-gpu', () => gpus([9, 10, 11]), () => gpus([11, 11, 11])],
];
