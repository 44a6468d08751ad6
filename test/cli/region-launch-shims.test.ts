/** `triscope region launch` of programs that nobody marked: the shims, once built, are loaded into them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from '../../src/query/index.ts';
import { addsUp, launched, programFolder, readReport } from './support/region.ts';
import { BIN, temporaryFolder, triscope } from './support/run.ts';

const has = (command: string) => spawnSync(command, ['--version']).status === 0;
const env = { XDG_CACHE_HOME: temporaryFolder(), OMP_NUM_THREADS: '2' };
const FAST = '--geopm-period=0.005';

describe.skipIf(!has('mpicc') || !has('mpirun'))(
  'an MPI program (needs openmpi-bin, libopenmpi-dev)',
  () => {
    const folder = programFolder('');
    const command = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-np', '2', './program'];

    beforeAll(async () => {
      await triscope(['region', 'build-shims', 'mpi'], { env });
      const source = join(folder, 'program.c');
      writeFileSync(
        source,
        `#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int k = 0; k < 5; k++) { usleep(10000); MPI_Barrier(MPI_COMM_WORLD); }
  MPI_Finalize();
  return 0;
}`,
      );
      execFileSync('mpicc', ['-o', join(folder, 'program'), source]);
    });

    it('whose ranks each have a controller beside them adds up, and has its time in MPI', async () => {
      const launcher = [...command.slice(0, -2), '4'];
      const options = ['--synthetic', '--geopm-period=0.02', '--geopm-report=ranks'];
      const beside = [process.execPath, BIN, 'region', 'launch', ...options, '--', './program'];
      const [mpirun, ...words] = [...launcher, ...beside];
      const { status, stderr } = spawnSync(mpirun, words, {
        cwd: folder,
        env: { ...process.env, ...env, GEOPM_UNKNOWN: '1' },
        encoding: 'utf8',
      });
      // One rank speaks for all.
      expect([status, stderr.match(/GEOPM_UNKNOWN has no effect/g)]).toEqual([
        0,
        [expect.anything()],
      ]);
      const { host } = readReport(join(folder, 'ranks'));
      expect(host.Triscope.processes.map(({ rank }) => rank).toSorted()).toEqual([0, 1, 2, 3]);
      addsUp({ host });
      for (const { region, ...section } of host.Regions ?? []) {
        expect([region, section.count]).toEqual([region, region === 'MPI_Barrier' ? 5 : 1]);
      }
      const whole = host['Application Totals'];
      const startup = Number(whole['MPI startup (s)']);
      expect(startup).toBeGreaterThan(0);
      expect(startup).toBeLessThan(Number(whole['runtime (s)']));
      const init = host.Regions?.find(({ region }) => region === 'MPI_Init');
      // Ranks do not come at once: their mean is not what the startup, which is sampled, says.
      expect(Number(init?.['runtime (s)'])).toBeGreaterThan(0);
    });

    it.skipIf(process.arch !== 'x64')(
      'that is ROSS puts its files on the recording’s timeline, each PE as its rank, process and CPU',
      async () => {
        const source = fileURLToPath(new URL('support/ross-writer.c', import.meta.url));
        const cwd = temporaryFolder();
        execFileSync('mpicc', ['-o', join(cwd, 'writer'), source]);
        const run = ['record', '-o', 'run', '--', ...command.slice(0, -1), './writer'];
        const ran = await triscope(run, { cwd, env });
        expect([ran.code, ran.out.split('\n')[0]]).toEqual([0, 'ROSS Version: v0']);
        const recording = await openRecording(join(cwd, 'run.tri'));
        const walls = readFileSync(join(cwd, 'wall.txt'), 'utf8').trim().split('\n').map(BigInt);
        const samples = await recording.query<{ ns: number }>(
          `SELECT ((t * 1e9)::HUGEINT + (SELECT start_ns FROM recording) - ${walls[0]})::DOUBLE AS ns FROM ross_pe WHERE pe_id = 0 ORDER BY t`,
        );
        const [pes, joined, clocks, told] = [
          await recording.query(
            'SELECT pe, rank FROM pes WHERE thread_id IN (SELECT process_id FROM process_info WHERE rank = pe) ORDER BY pe',
          ),
          await recording.query(
            'SELECT pe_id, round(sum(events_processed)) AS events FROM pe_on_node WHERE waiting IS NOT NULL GROUP BY pe_id HAVING events > 0 ORDER BY pe_id',
          ),
          await recording.query(
            "SELECT quality LIKE '%MPI_Init%' AS noted FROM clocks WHERE file = 'ross/aligned.frames'",
          ),
          await recording.query(
            'SELECT model, synchroniser, pes, lps, nkp, batch, gvt_interval, wall, gvts FROM sim_run',
          ),
        ];
        const { suspects } = recording;
        await recording.close();
        const off = samples
          .map(({ ns }, k) => Math.abs(ns - Number(walls[k] - walls[0])))
          .toSorted((a, b) => a - b);
        // Cycles over 10⁹ would be seconds off, and days from the run. A rank may lose its CPU between its two clocks.
        expect(off).toHaveLength(15);
        expect(off[7]).toBeLessThan(20e6);
        expect(pes).toEqual([0, 1].map((pe) => ({ pe, rank: pe })));
        expect(joined.map(({ pe_id }) => pe_id)).toEqual([0, 1]);
        expect(clocks).toEqual([{ noted: true }]);
        const counts = { pes: 2, lps: 128, nkp: 16, batch: 8, gvt_interval: 16, gvts: 15 };
        expect(told).toEqual([
          { model: 'writer', synchroniser: 'optimistic', ...counts, wall: 1.5 },
        ]);
        expect(readFileSync(join(cwd, 'run.tri/ross/printed.txt'), 'utf8')).toBe(ran.out);
        expect(suspects).toEqual([]);
      },
    );

    it('is left alone with --no-auto=mpi', async () => {
      const { host } = await launched(folder, [FAST, '--no-auto=mpi'], command, { env });
      expect(host.Regions).toBeUndefined();
    });
  },
);

describe.skipIf(!has('clang'))('an OpenMP program (needs clang, libomp-dev)', () => {
  const folder = programFolder('');

  beforeAll(async () => {
    await triscope(['region', 'build-shims', 'openmp'], { env });
    const source = join(folder, 'program.c');
    writeFileSync(
      source,
      `static double solve(int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < n; k++) sum += k;
  return sum;
}
int main(void) {
  double sum = 0;
  for (int k = 0; k < 7; k++) sum += solve(100);
  return sum != 7 * 4950;
}`,
    );
    execFileSync('clang', ['-O0', '-fopenmp', '-o', join(folder, 'program'), source]);
  });

  it('is left alone with --geopm-ompt-disable', async () => {
    const { host } = await launched(folder, [FAST, '--geopm-ompt-disable'], ['./program'], { env });
    expect(host.Regions).toBeUndefined();
  });
});

describe('a Node program', () => {
  it('has its files’ asynchronous work counted apart', async () => {
    const folder = programFolder(`
      import { readFile } from 'node:fs/promises';
      await Promise.all([1, 2, 3].map(() => readFile('app.mjs')));`);
    const { host } = await launched(folder, [FAST, '--auto=fs'], undefined, { env });
    expect(host.Regions).toBeUndefined();
    expect(JSON.stringify(host.Triscope.regions)).toMatch(/"overlapping":true/);
  });
});
