/** GEOPM's own tutorials, in the folder that GEOPM_TUTORIALS names: built by their Makefile, run as they are, for some seconds each. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { freemem } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { launched } from './support/region.ts';
import { temporaryFolder, triscope } from './support/run.ts';

const source = process.env.GEOPM_TUTORIALS;
const hasMpi = spawnSync('mpicc', ['--version']).status === 0;
const env = {
  XDG_CACHE_HOME: temporaryFolder(),
  OMP_NUM_THREADS: '2',
  OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
};
const folder = temporaryFolder();
/** What three arrays of 500 million doubles take, and some. */
const LARGE = 14e9;

describe.skipIf(source === undefined || !hasMpi)(
  'GEOPM’s tutorials (needs GEOPM_TUTORIALS)',
  () => {
    beforeAll(async () => {
      cpSync(source ?? '', folder, { recursive: true });
      const { code, err } = await triscope(['region', 'build-shims'], { env });
      expect([code, err]).toEqual([0, '']);
      const flags = async (kind: string) =>
        (await triscope(['region', 'flags', kind], { env })).out.trim();
      const openmp = '-fopenmp -mavx';
      const words = [
        ...[0, 1, 2, 3, 4, 5].map((n) => `tutorial_${n}`),
        `CFLAGS=${await flags('--compile')} ${openmp} -std=gnu17`,
        `LDFLAGS=${await flags('--link')} ${openmp} -lm -lrt`,
      ];
      execFileSync('make', words, { cwd: folder, stdio: 'ignore' });
    });

    const tutorials = [
      [0, 'MPI_Init', 0],
      [1, 'MPI_Init', LARGE],
      [2, 'tutorial_sleep', LARGE],
      [3, 'tutorial_dgemm', 0],
      [4, 'tutorial_dgemm', 0],
      [5, 'MPI_Init', LARGE],
    ] as const;
    for (const [n, region, memory] of tutorials) {
      it.skipIf(freemem() < memory)(
        `${n} runs, and its report has ${region}`,
        async () => {
          const name = `tutorial_${n}`;
          const options = ['ompi', '-n', '1', '--geopm-ctl=application', '--geopm-preload'];
          const filter = `--geopm-program-filter=${name}`;
          const program = ['timeout', '6', `./${name}`];
          const { host } = await launched(folder, [...options, filter], program, { env });
          expect(host.Regions?.map((one) => one.region)).toContain(region);
          expect(Number(host['Application Totals']['runtime (s)'])).toBeGreaterThan(0);
        },
        30_000,
      );
    }
  },
);
