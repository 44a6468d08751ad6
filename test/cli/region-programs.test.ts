/**
 * Ten kinds of program: each field of their reports computed again from the traces, and each region's time beside the program's own
 * clock. Threads in a row, nested, forked, exec'd, multiprocessing, MPI in C and in Fortran, OpenMP of clang and of GCC, Node workers.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { recomputes, TRACED } from './support/recomputed.ts';
import { addsUp, type Launched, launched, programFolder } from './support/region.ts';
import { temporaryFolder, triscope } from './support/run.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const OPTIONS = ['--geopm-period=0.02', ...TRACED];
const has = (command: string) => spawnSync(command, ['--version']).status === 0;
const hasPython = has('python3');
const fortran = ['gfortran', 'gfortran-12'].find(has);
const ENV = {
  PYTHONPATH: NATIVE,
  PYTHONDONTWRITEBYTECODE: '1',
  XDG_CACHE_HOME: temporaryFolder(),
  OMP_NUM_THREADS: '2',
};

/** `visit(name, seconds)` marks a visit, and leaves what its own clock says within and around it in a file. */
const PYTHON = `
import multiprocessing, os, sys, time
import triscope_region as triscope
def visit(name, seconds):
    began = time.monotonic()
    with triscope.region(name, "compute"):
        entered = time.monotonic()
        time.sleep(seconds)
        within = time.monotonic() - entered
    around = time.monotonic() - began
    with open("own-%s-%d" % (name, os.getpid()), "w") as file:
        file.write("%.9f %.9f 1" % (within, around))
`;

async function python(text: string, options: readonly string[] = []): Promise<Launched> {
  const folder = programFolder('');
  writeFileSync(join(folder, 'app.py'), PYTHON + text);
  return launched(folder, [...OPTIONS, ...options], ['python3', 'app.py'], { env: ENV });
}

/**
 * Each process's own seconds, of its own clock, bracket its record (to `slack`, where it could not look inside); the report has
 * their mean. All else is what the traces say.
 */
function agrees(run: Launched, region: string, slack = 1e-6, seenLate = 0): void {
  const { folder, host } = run;
  const own = readdirSync(folder).filter((name) => name.startsWith(`own-${region}-`));
  const { processes } = host.Triscope;
  expect(own.length).toBeGreaterThan(0);
  let [within, around, visits] = [0, 0, 0];
  for (const name of own) {
    const [least, most, count] = readFileSync(join(folder, name), 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number);
    const pid = Number(name.split('-')[2]);
    const seen = processes
      .filter((process) => process.pid === pid)
      .flatMap(({ regions }) => regions)
      .find((one) => one.region === region);
    expect(seen?.count).toBe(count);
    expect(seen?.['runtime (s)']).toBeGreaterThanOrEqual(least - slack);
    expect(seen?.['runtime (s)']).toBeLessThanOrEqual(most + 1e-6);
    within += least;
    around += most;
    visits += count;
  }
  const section = host.Regions?.find((one) => one.region === region);
  expect(section?.count).toBeCloseTo(visits / processes.length, 5);
  const runtime = Number(section?.['runtime (s)']) * processes.length;
  expect(runtime).toBeGreaterThanOrEqual(0.99 * (within - slack * own.length));
  expect(runtime).toBeLessThanOrEqual(1.01 * around);
  expect(recomputes(run, seenLate)).toBeGreaterThan(50);
}

/** In C: `own(name, within, around, count)` leaves what the program's clock says. */
const OWN = `
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void own(const char *name, double within, double around, int count) {
  char path[128];
  snprintf(path, sizeof path, "own-%s-%d", name, (int)getpid());
  FILE *file = fopen(path, "w");
  fprintf(file, "%.9f %.9f %d", within, around, count);
  fclose(file);
}
`;

/** Compiles a program in C into a new folder. */
function inC(text: string, compiler: string, words: readonly string[]): string {
  const folder = programFolder('');
  writeFileSync(join(folder, 'app.c'), OWN + text);
  execFileSync(compiler, ['app.c', '-o', 'app', ...words], { cwd: folder });
  return folder;
}
const MARKING = ['-I', NATIVE, join(NATIVE, 'triscope_region.c'), '-pthread'];

async function run(folder: string, command: readonly string[] = ['./app']): Promise<Launched> {
  const outcome = await launched(folder, OPTIONS, command, { env: ENV });
  expect([outcome.code, outcome.err]).toEqual([0, '']);
  expect(outcome.host.Triscope.complete).toBe(true);
  return outcome;
}

describe.skipIf(!hasPython)('Python programs (need python3)', () => {
  it('of several processes, whose parent only imports the module, are complete', async () => {
    const run = await python(`
if __name__ == "__main__":
    children = [multiprocessing.Process(target=visit, args=("work", 0.2)) for _ in range(3)]
    for child in children: child.start()
    for child in children: child.join()
`);
    expect([run.code, run.err]).toEqual([0, '']);
    expect(run.host.Triscope.processes).toHaveLength(3);
    expect(run.host.Triscope.complete).toBe(true);
    agrees(run, 'work');
    addsUp(run);
  });

  it('that become another program end when they do', async () => {
    const run = await python(`
if len(sys.argv) == 1:
    visit("first", 0.1)
    triscope.region("left open").enter()
    os.execv(sys.executable, ["python3", "app.py", "again"])
visit("second", 0.1)
`);
    expect([run.code, run.err]).toEqual([0, '']);
    const { processes, complete } = run.host.Triscope;
    expect(complete).toBe(true);
    expect(processes.map(({ replaced = false }) => replaced)).toEqual([true, false]);
    expect(processes[0].pid).toBe(processes[1].pid);
    const [[first], [second]] = processes.map(({ regions }) => regions);
    expect([first.region, second.region]).toEqual(['first', 'second']);
    // What becomes another program is seen to have ended a sample or two later.
    agrees(run, 'first', 1e-6, 0.06);
    agrees(run, 'second', 1e-6, 0.06);
    // The first program's time ends where the second one's begins.
    const spans = processes.map((process) => Number(process['runtime (s)']));
    const whole = Number(run.host['Application Totals']['runtime (s)']);
    expect(spans[0] + spans[1]).toBeLessThanOrEqual(whole + 1e-6);
  });

  it('that end by os._exit end in good order', async () => {
    const run = await python('visit("work", 0.05)\nos._exit(3)\n');
    expect(run.code).toBe(3);
    expect(run.host.Triscope.complete).toBe(true);
    agrees(run, 'work');
    addsUp(run);
  });

  it('are seen where --geopm-program-filter names them', async () => {
    const text = 'visit("work", 0.01)\n';
    const [seen, unseen] = await Promise.all([
      python(text, ['--geopm-program-filter=other,app.py']),
      python(text, ['--geopm-program-filter=other']),
    ]);
    expect(seen.host.Triscope.processes).toHaveLength(1);
    expect(unseen.host.Triscope.processes).toHaveLength(0);
    expect(existsSync(join(unseen.folder, 'geopm.report'))).toBe(true);
  });
});

describe.skipIf(!has('cc'))('a program in C (needs gcc)', () => {
  it('whose threads follow each other', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static double within, around;
static void *work(void *nothing) {
  int row = triscope_region("row", TRISCOPE_HINT_COMPUTE);
  double began = now();
  triscope_enter(row);
  double entered = now();
  usleep(5000);
  within += now() - entered;
  triscope_exit(row);
  around += now() - began;
  return nothing;
}
int main(void) {
  for (int k = 0; k < 40; k++) {
    pthread_t thread;
    triscope_epoch();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    usleep(2000);
  }
  own("row", within, around, 40);
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    expect(outcome.host['Epoch Totals']?.count).toBe(40);
    agrees(outcome, 'row');
  });

  it('that marks before MPI_Init: its time begins with the first mark', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static double within, around;
static void visit(void) {
  int region = triscope_region("work", TRISCOPE_HINT_COMPUTE);
  double began = now();
  triscope_enter(region);
  double entered = now();
  usleep(60000);
  within += now() - entered;
  triscope_exit(region);
  around += now() - began;
}
int main(void) {
  visit();
  usleep(40000);
  triscope_start(1); /* as MPI_Init does */
  visit();
  triscope_stop(1);
  own("work", within, around, 2);
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    agrees(outcome, 'work');
    addsUp(outcome);
    const sections = [...(outcome.host.Regions ?? []), outcome.host['Unmarked Totals'] ?? {}];
    const sum = sections.reduce((total, one) => total + Number(one['runtime (s)']), 0);
    expect(sum).toBeCloseTo(Number(outcome.host['Application Totals']['runtime (s)']), 5);
  });

  it('that forks and nests', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static void visit(const char *name, const char *inner, int milliseconds) {
  int outside = triscope_region(name, inner ? TRISCOPE_HINT_COMPUTE : TRISCOPE_HINT_MEMORY);
  double began = now();
  triscope_enter(outside);
  double entered = now();
  if (inner) visit(inner, NULL, milliseconds);
  usleep(1000 * milliseconds);
  double within = now() - entered;
  triscope_exit(outside);
  own(name, within, now() - began, 1);
}
int main(void) {
  visit("first", NULL, 50);
  for (int k = 0; k < 2; k++) {
    if (fork() == 0) {
      visit("outer", "inner", 100);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    const { host } = outcome;
    expect(host.Triscope.processes).toHaveLength(3);
    agrees(outcome, 'first');
    agrees(outcome, 'outer');
    addsUp(outcome);
    // Time goes to the outermost region; what is inside it is told with the process.
    const names = host.Regions?.map(({ region }) => region);
    expect(names?.toSorted()).toEqual(['first', 'outer']);
    expect(JSON.stringify(host.Triscope.regions)).toContain('"inner"');
  });
});

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

describe('a Node program', () => {
  it('that ends between samples: hints end where time does', async () => {
    const body = "const r = region('r', 'compute'); r.enter(); sleep(150); r.exit();";
    const run = await launched(programFolder(body), ['--geopm-period=0.1', '--synthetic']);
    addsUp(run);
    expect(run.host.Triscope.complete).toBe(true);
  });

  it('of workers that overlap', async () => {
    const folder = programFolder(`
      import { writeFileSync } from 'node:fs';
      import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
      const seconds = () => Number(process.hrtime.bigint()) / 1e9;
      if (isMainThread) {
        const times = await Promise.all([100, 200, 250].map((ms) => new Promise((resolve) => {
          new Worker(new URL(import.meta.url), { workerData: ms }).once('message', resolve);
        })));
        // On a busy machine one may have ended before another begins.
        const covered = (from, to) => {
          let [sum, until] = [0, 0];
          for (const t of times.toSorted((a, b) => a[from] - b[from])) {
            sum += Math.max(0, t[to] - Math.max(t[from], until));
            until = Math.max(until, t[to]);
          }
          return sum;
        };
        writeFileSync('own-work-' + process.pid, [covered(1, 2), covered(0, 3), 3].join(' '));
      } else {
        const r = region('work', 'parallel');
        const began = seconds();
        r.enter();
        const entered = seconds();
        sleep(workerData);
        const left = seconds();
        r.exit();
        parentPort.postMessage([began, entered, left, seconds()]);
      }
    `);
    agrees(await run(folder, [process.execPath, 'app.mjs']), 'work');
  });
});
