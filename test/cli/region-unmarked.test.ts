/**
 * Programs that nobody marked, in C and Fortran with MPI, with OpenMP of clang and of GCC: each field of their reports computed again
 * from the traces, and each region's time beside the program's own clock.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { agrees, ENV, has, inC, run } from './support/own-programs.ts';
import { type Launched, programFolder } from './support/region.ts';
import { triscope } from './support/run.ts';

const fortran = ['gfortran', 'gfortran-12'].find(has);

describe.skipIf(!has('mpicc') || !has('mpirun'))(
  'an MPI program that nobody marked (needs openmpi-bin, libopenmpi-dev)',
  () => {
    const mpirun = 'mpirun --allow-run-as-root --oversubscribe --bind-to none -np 2'.split(' ');
    beforeAll(() => triscope(['region', 'build-shims', 'mpi'], { env: ENV }));

    function hasBarriers(outcome: Launched): void {
      const { host } = outcome;
      const barrier = host.Regions?.find(({ region }) => region === 'MPI_Barrier');
      expect([barrier?.count, barrier?.hash]).toEqual([5, 0x82e72b30]);
      expect(host.Triscope.processes.map(({ rank }) => rank).toSorted()).toEqual([0, 1]);
      // Programs look at their clocks around the calls only.
      agrees(outcome, 'MPI_Barrier', 0.002);
    }

    it('in C', async () => {
      const folder = inC(
        `#include <mpi.h>
int main(int argc, char **argv) {
  int rank;
  double around = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < 5; k++) {
    usleep(1000 + 40000 * rank);
    double began = now();
    MPI_Barrier(MPI_COMM_WORLD);
    around += now() - began;
  }
  MPI_Finalize();
  own("MPI_Barrier", around, around, 5);
}`,
        'mpicc',
        [],
      );
      hasBarriers(await run(folder, [...mpirun, './app']));
    });

    it.skipIf(fortran === undefined)(
      'in Fortran, by both interfaces (needs gfortran)',
      async () => {
        const folder = programFolder('');
        writeFileSync(
          join(folder, 'app.f90'),
          `subroutine sum_up(total)
  use mpi_f08
  integer :: one = 1, total
  call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
end subroutine
program app
  include 'mpif.h'
  integer :: error, provided, length, k, total, rank
  integer(8) :: began, ended, rate, around = 0
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=99) :: path
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do k = 1, 5
    if (rank == 1) call execute_command_line('sleep 0.04')
    call system_clock(began, rate)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call system_clock(ended)
    around = around + ended - began
  end do
  call sum_up(total)
  call MPI_Get_processor_name(name, length, error)
  if (total /= 2 .or. len_trim(name) /= length) stop 3
  call MPI_Finalize(error)
  write (path, '(a, i0)') 'own-MPI_Barrier-', getpid()
  open (unit=9, file=path)
  write (9, '(2f15.9, i5)') dble(around) / rate, dble(around) / rate, 5
end program`,
        );
        const options = { cwd: folder, env: { ...process.env, OMPI_FC: fortran } };
        execFileSync('mpif90', ['-o', 'app', 'app.f90'], options);
        const outcome = await run(folder, [...mpirun, './app']);
        hasBarriers(outcome);
        const calls = outcome.host.Regions?.map(({ region, count }) => `${region} ${count}`);
        const once = 'Allreduce Comm_rank Finalize Get_processor_name Init_thread'.split(' ');
        const expected = [...once.map((name) => `MPI_${name} 1`), 'MPI_Barrier 5'];
        expect(calls?.toSorted()).toEqual(expected.toSorted());
      },
    );
  },
);

describe.each([
  ['clang', 'openmp', 'libomp-dev'],
  ['gcc', 'gomp', 'gcc'],
])('an OpenMP program of %s that nobody marked', (compiler, shim, needs) => {
  it.skipIf(!has(compiler))(`has its parallel regions (needs ${needs})`, async () => {
    await triscope(['region', 'build-shims', shim], { env: ENV });
    const folder = inC(
      `static double first, last;
__attribute__((noinline)) void solve(void) {
  first = 1e30, last = 0;
#pragma omp parallel
  {
    double entered = now();
    usleep(10000);
    double left = now();
#pragma omp critical
    {
      if (entered < first) first = entered;
      if (left > last) last = left;
    }
  }
}
int main(void) {
  double within = 0, around = 0;
  for (int k = 0; k < 15; k++) {
    double began = now();
    solve();
    around += now() - began;
    within += last - first;
    usleep(3000);
  }
  own("solve", within, around, 15);
}`,
      compiler,
      ['-O1', '-fopenmp'],
    );
    const outcome = await run(folder);
    expect(outcome.host.Regions?.map(({ region }) => region)).toEqual(['solve']);
    agrees(outcome, 'solve');
  });
});
