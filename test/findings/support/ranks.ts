/** Reports of two ranks that were so long in each region, and raw stats of GPUs. */
import { writeFileSync } from 'node:fs';
import {
  type TraceColumn,
  traceHeaderText,
  traceRowText,
} from '../../../src/formats/geopm/write.ts';
import { HASH_UNMARKED, regionHash } from '../../../src/model/region-hash.ts';
import { NOON, recordingOf, writeFolder } from '../../query/support/recording.ts';
import { newPath } from './findings.ts';
import { reportText } from './machine.ts';

type Regions = Readonly<Record<string, number>>;

/** Seconds by region of each rank, of ten. */
export function rankReport(...ranks: readonly Regions[]): string {
  const path = newPath('.report');
  writeFileSync(path, rankText(ranks));
  return path;
}

/** The same with a trace of ten seconds: in MPI for these shares of each second, in a region of this name. */
export function tracedRanks(
  ranks: readonly Regions[],
  inMpi: readonly (readonly [number, string])[],
): string {
  const columns: TraceColumn[] = [
    { name: 'TIME', format: 'double' },
    { name: 'REGION_HASH', format: 'hex' },
    { name: 'TIME_HINT_NETWORK', format: 'double' },
  ];
  const head = traceHeaderText(
    {
      ...{ version: '3.1.0', startTime: '2026-03-01T12:00:00.000000000+0000' },
      ...{ profile: 'test', host: 'h1', agent: 'monitor' },
    },
    columns.map(({ name }) => name),
  );
  let [total, rows] = [0, traceRowText(columns, Float64Array.of(0, HASH_UNMARKED, 0))];
  inMpi.forEach(([share, region], k) => {
    total += share;
    rows += traceRowText(columns, Float64Array.of(k + 1, regionHash(region), total));
  });
  return writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'geopm.report': rankText(ranks),
    'geopm.trace-h1': head + rows,
  });
}

function rankText(ranks: readonly Regions[]): string {
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
  return `${reportText([])}${own}`;
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
