/** A run under MPICH, whose handles are numbers. Beside Open MPI: its launcher says which library ranks load. */
import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { launchedRank } from '../../src/os/mpi/launcher.ts';
import { HAS_MPI, outcomeOf } from '../sim/support/mpirun.ts';
import { BIN, fixture, triscope } from './support/run.ts';

const HYDRA = 'mpiexec.hydra';
const HAS_MPICH = spawnSync(HYDRA, ['--version']).status === 0;
const MODEL = ['sim', 'run', 'phold', '--end=100', '--total-lps=32', '--lookahead=0.1'];

const ranksOf = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  outcomeOf(
    spawn(HYDRA, ['-n', '2', process.execPath, BIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    }),
  );

describe.skipIf(!HAS_MPICH)('under mpiexec of MPICH (needs mpich)', () => {
  it('the result is that of a sequential run', async () => {
    const over = await ranksOf([...MODEL, '--json']);
    expect([over.code, over.err]).toEqual([0, '']);
    const alone = await triscope([...MODEL, '--json']);
    const [a, b] = [over, alone].map(({ out }) => JSON.parse(out));
    expect([a.transport, a.pes]).toEqual(['mpi', 2]);
    expect(a.remoteReceives).toBeGreaterThan(0);
    expect([a.eventDigest, a.stateDigest, a.netEvents]).toEqual([
      b.eventDigest,
      b.stateDigest,
      b.netEvents,
    ]);
  });

  it('a rank that fails ends all', async () => {
    const misbehave = ['sim', 'run', fixture('misbehave.ts'), '--what=throw', '--synch=3'];
    const { code, err } = await ranksOf(misbehave);
    expect(code).not.toBe(0);
    expect(err).toMatch(/^triscope: .*LP 2.*\(rank 1\)$/m);
  });

  it.skipIf(!HAS_MPI)('another library than the launcher’s is told apart', async () => {
    const { code, err } = await ranksOf(MODEL, { TRISCOPE_LIBMPI: 'libmpi.so.40' });
    expect(code).not.toBe(0);
    expect(err).toMatch(/the launcher has started 2 ranks, of which Open MPI .* finds 1: /);
  });
});

it('a launcher is told by its environment; Slurm’s own PMI is none', () => {
  const hydra = { PMI_RANK: '3', PMI_SIZE: '4', MPI_LOCALRANKID: '1', MPI_LOCALNRANKS: '2' };
  expect(launchedRank(hydra)).toMatchObject({ rank: 3, size: 4, localRank: 1, local: 2 });
  expect(launchedRank({ PMI_RANK: '0', PMI_SIZE: '1' })).toBeNull();
});
