/** Launchers of MPI jobs, told by the environment that they give to ranks. */
import { expect, it } from 'vitest';
import { launchedRank } from '../../src/os/mpi/launcher.ts';

it('a launcher is told by its environment; Slurm’s own PMI is none', () => {
  const hydra = { PMI_RANK: '3', PMI_SIZE: '4', MPI_LOCALRANKID: '1', MPI_LOCALNRANKS: '2' };
  expect(launchedRank(hydra)).toMatchObject({ rank: 3, size: 4, localRank: 1, local: 2 });
  expect(launchedRank({ PMI_RANK: '0', PMI_SIZE: '1' })).toBeNull();
});
