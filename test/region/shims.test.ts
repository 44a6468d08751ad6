/** Programs that nobody marked, under Open MPI and LLVM's OpenMP runtime. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { markingEnvironment } from '../../dist/region/controller/environment.js';
import { buildShims, mpiCalls } from '../../dist/region/shims.js';
import { unmarkedNotes } from '../../dist/region/unmarked.js';
import { counts, ended, freshFolder, readers, start } from './pages.ts';

const TRISCOPE = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
const has = (...commands: string[]) =>
  commands.every((command) => spawnSync(command, ['--version']).status === 0);

const triscope = (args: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  spawnSync(process.execPath, [TRISCOPE, 'region', 'build-shims', ...args], {
    encoding: 'utf8',
    env,
  });

describe('the environment that loads shims', () => {
  it('names libraries of a folder with a blank by their names alone', () => {
    const cache = join(freshFolder(), 'a b');
    const folder = join(cache, 'triscope');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'libtriscope_mpi.so'), '');
    const given = { XDG_CACHE_HOME: cache, LD_PRELOAD: '/x.so', LD_LIBRARY_PATH: '/y' };
    expect(markingEnvironment({ shims: ['mpi'] }, given)).toEqual({
      LD_PRELOAD: 'libtriscope_mpi.so:/x.so',
      LD_LIBRARY_PATH: `${folder}:/y`,
    });
    expect(() => buildShims('/a:b', [])).toThrow(
      'libraries cannot be preloaded from a path with a colon',
    );
  });
});

let libraries = '';
beforeAll(() => {
  libraries = freshFolder();
});

describe('the calls of an mpi.h', () => {
  it('are those that return int and can be called by their other name', () => {
    const text = `
# 12 "mpi.h"
__attribute__((visibility("default"))) int MPI_Send(const void *buf, int count, MPI_Datatype datatype,
                                int dest);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest);
int MPI_Old(int a) __attribute__((__deprecated__("no more")));
int PMPI_Old(int a) __attribute__((__deprecated__("no more")));
int MPI_Name(const char *name, int *length);
int PMPI_Name(const char *name, int *length);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Finalize(void);
int PMPI_Finalize(void);
int MPI_Buffer_flush(void);
int PMPI_Buffer_flush(void);
int MPI_Pcontrol(const int level, ...);
int PMPI_Pcontrol(const int level, ...);
int MPI_Unprofiled(int a);
double MPI_Wtime(void);
double PMPI_Wtime(void);
`;
    expect(mpiCalls(text)).toEqual([
      'CALL(MPI_Send, (const void *buf, int count, MPI_Datatype datatype, int dest), (buf, count, datatype, dest))',
      'FORTRAN(MPI_Send, mpi_send, (word a0, word a1, word a2, word a3, word a4), (a0, a1, a2, a3, a4))',
      'CALL(MPI_Old, (int a), (a))',
      'FORTRAN(MPI_Old, mpi_old, (word a0, word a1), (a0, a1))',
      'CALL(MPI_Name, (const char *name, int *length), (name, length))',
      'FORTRAN(MPI_Name, mpi_name, (word a0, word a1, word a2, word a3), (a0, a1, a2, a3))',
      'CALL(MPI_Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup), (group, n, ranges, newgroup))',
      'FORTRAN(MPI_Group_range_incl, mpi_group_range_incl, (word a0, word a1, word a2, word a3, word a4), (a0, a1, a2, a3, a4))',
      'CALL(MPI_Buffer_flush, (void), ())',
      'FORTRAN(MPI_Buffer_flush, mpi_buffer_flush, (word a0), (a0))',
    ]);
  });
});

describe('triscope region build-shims', () => {
  it('says what it cannot build, what to install, and ends with 4', () => {
    // A PATH with node alone: no compiler.
    const bin = freshFolder();
    symlinkSync(process.execPath, join(bin, 'node'));
    const out = freshFolder();
    const run = triscope(['--out', out], { ...process.env, PATH: bin });
    expect(run.status).toBe(4);
    expect(run.stderr).toContain(
      'region (marking from C, C++ and Fortran) was not built: there is no cc',
    );
    expect(run.stderr).toContain('apt-get install');
    expect(readdirSync(out)).toEqual([]);
  });

  it('refuses names that it does not know, and folders that it cannot make', () => {
    expect(triscope(['mpu'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("no shim 'mpu'"),
    });
    expect(triscope(['--out', '/proc/version/x']).status).toBe(2);
    expect(triscope(['--help']).stdout).toContain('usage: triscope region build-shims');
  });

  it.skipIf(!has('cc'))(
    'keeps what it built in the cache folder, or in the folder named (needs cc)',
    () => {
      const cache = freshFolder();
      const run = triscope(['region', '--json'], { ...process.env, XDG_CACHE_HOME: cache });
      expect(run.status).toBe(0);
      const { folder, shims } = JSON.parse(run.stdout) as { folder: string; shims: object[] };
      expect(folder).toBe(join(cache, 'triscope'));
      const path = join(folder, 'libtriscope_region.so');
      expect(shims).toEqual([{ name: 'region', path, compiler: 'cc', reason: '' }]);
      expect(readFileSync(path).subarray(1, 4).toString()).toBe('ELF');
    },
  );
});

describe.skipIf(!has('cc'))('a program that a library would mark (needs gcc)', () => {
  it('is told of before it runs, where that library is not built and is wanted', () => {
    const folder = freshFolder();
    const none = freshFolder();
    const file = join(folder, 'empty.c');
    writeFileSync(file, 'int main(void) { return 0; }');
    const library = (name: string) => {
      const so = `-Wl,-soname,${name}`;
      execFileSync('cc', ['-shared', '-x', 'c', '/dev/null', so, '-o', join(folder, name)]);
      return join(folder, name);
    };
    const linked = (name: string, ...words: string[]) => {
      const path = join(folder, name);
      execFileSync('cc', ['-Wl,--no-as-needed', '-o', path, file, ...words]);
      return path;
    };
    const gomp = linked('gomp', library('libgomp.so.1'));
    const mpi = linked('mpi', library('libmpi.so.40'));
    const geopm = linked('geopm', library('libgeopm.so.2'), join(folder, 'libgomp.so.1'));
    const all = ['mpi', 'openmp', 'gomp'] as const;
    const says = (words: readonly string[], wanted: readonly (typeof all)[number][] = all) =>
      unmarkedNotes(words, wanted, none, folder).map((line) => line.split(':')[0]);
    const uses = (path: string, what: string) => `${path} ${what}, of which nothing is seen`;
    expect(says(['gomp'])).toEqual([uses(gomp, 'uses OpenMP (libgomp.so.1)')]);
    expect(says(['mpirun', '-np', '2', mpi])).toEqual([uses(mpi, 'uses MPI (libmpi.so.40)')]);
    // It marks for itself.
    expect(says([geopm])).toEqual([uses(geopm, 'is marked for GEOPM (libgeopm.so.2)')]);
    expect(says([gomp], ['mpi'])).toEqual([]);
    expect(says([file, join(folder, 'absent'), folder])).toEqual([]);
    writeFileSync(join(none, 'libtriscope_gomp.so'), '');
    expect(says([gomp])).toEqual([]);
    for (const length of [0, 20, 64, 100]) {
      writeFileSync(join(folder, 'cut'), readFileSync(gomp).subarray(0, length), { mode: 0o755 });
      expect(says([join(folder, 'cut')])).toEqual([]);
    }
  });
});

describe.skipIf(!has('cc'))('a program that no library can be loaded into (needs gcc)', () => {
  it('is told of, also where it runs a script; what is no program is not', () => {
    const folder = freshFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('empty.c'), 'int main(void) { return 0; }');
    const built = (name: string, ...words: string[]) => {
      execFileSync('cc', ['-o', at(name), at('empty.c'), ...words]);
      return at(name);
    };
    const says = (...words: string[]) =>
      unmarkedNotes(words, ['mpi'], folder, folder).map((line) => line.split(':')[0]);
    const fixed = `${built('fixed', '-static', '-no-pie')} is linked statically`;
    const moved = `${built('moved', '-static-pie')} is linked statically`;
    expect(says('fixed')).toEqual([fixed]);
    expect(says('mpirun', '-np', '2', at('moved'), ':', at('moved'))).toEqual([moved]);
    const script = (name: string, line: string) =>
      writeFileSync(at(name), `#!${line}\n`, { mode: 0o755 });
    script('by-path', ` ${at('fixed')} -x`);
    script('by-env', '/usr/bin/env -S fixed -x');
    script('by-script', at('by-env'));
    for (const name of ['by-path', 'by-env', 'by-script']) expect(says(name)).toEqual([fixed]);
    script('endless', at('endless'));
    expect(says('endless')).toEqual([]);
    built('part.o', '-c');
    built('library.so', '-shared');
    expect(says(built('dynamic'), at('part.o'), at('library.so'), at('empty.c'))).toEqual([]);
    expect(unmarkedNotes([at('fixed')], [], folder, folder)).toEqual([]);
    chmodSync(at('dynamic'), 0o4755);
    expect(says('dynamic')).toEqual([]);
    if (process.getuid?.() !== 0) return;
    chownSync(at('dynamic'), 65_534, 0);
    chmodSync(at('dynamic'), 0o4755);
    expect(says('dynamic')).toEqual([
      `${at('dynamic')} runs with its owner’s rights (setuid, setgid)`,
    ]);
  });
});

describe.skipIf(!has('mpicc', 'mpirun'))(
  'an MPI program (needs openmpi-bin, libopenmpi-dev)',
  () => {
    it('has a region for each call, and is the application from MPI_Init to MPI_Finalize', async () => {
      expect(triscope(['mpi', '--out', libraries]).status).toBe(0);
      const source = join(libraries, 'ring.c');
      writeFileSync(
        source,
        `#include <mpi.h>
int main(int argc, char **argv) {
  int rank, in = 0, out = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < 5; k++) MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  else MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return in != 2;
}`,
      );
      const program = join(libraries, 'ring');
      execFileSync('mpicc', ['-o', program, source]);
      const pages = freshFolder();
      const preload = [
        '-x',
        'TRISCOPE_REGION_DIR',
        '-x',
        `LD_PRELOAD=${libraries}/libtriscope_mpi.so`,
      ];
      const flags = ['--allow-run-as-root', '--oversubscribe', '-np', '2'];
      const end = await ended(start(['mpirun', ...flags, ...preload, program], pages));
      expect(end.stderr).toBe('');
      expect(end.code).toBe(0);
      const all = readers(pages).sort((a, b) => a.rank - b.rank);
      expect(all.map(({ rank }) => rank)).toEqual([0, 1]);
      for (const page of all) {
        const seen = page.snapshot();
        expect(counts(seen)).toEqual({
          MPI_Init: 1,
          MPI_Comm_rank: 1,
          MPI_Allreduce: 5,
          [page.rank === 0 ? 'MPI_Send' : 'MPI_Recv']: 1,
          MPI_Finalize: 1,
        });
        expect(seen.regions.slice(1).every(({ hint }) => hint === 'network')).toBe(true);
        const calls = seen.nodes.reduce((sum, { seconds }) => sum + seconds, 0);
        const [from, to] = [page.started ?? Number.NaN, page.stopped ?? Number.NaN];
        expect(to - from).toBeGreaterThan(calls);
      }
    });
  },
);

describe.skipIf(!has('clang'))('an OpenMP program (needs clang, libomp-dev)', () => {
  const source = `#include <stdlib.h>
static double solve(int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < n; k++) sum += k;
  return sum;
}
static double twice(int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < n; k++) sum += k;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < n; k++) sum -= k;
  return sum;
}
int main(void) {
  double sum = 0;
  for (int k = 0; k < 7; k++) sum += solve(100);
  return sum + twice(10) != 7 * 4950;
}`;

  it('has a region for each parallel region, named by its function', async () => {
    const built = triscope(['openmp', '--out', libraries]);
    expect([built.status, built.stderr]).toEqual([0, '']);
    const file = join(libraries, 'loops.c');
    writeFileSync(file, source);
    const program = join(libraries, 'loops');
    execFileSync('clang', ['-O0', '-fopenmp', '-o', program, file]);
    const marks = async (path: string) => {
      const pages = freshFolder();
      const tool = join(libraries, 'libtriscope_openmp.so');
      const env = { OMP_TOOL_LIBRARIES: tool, OMP_NUM_THREADS: '2' };
      expect((await ended(start([path], pages, env))).code).toBe(0);
      const [page] = readers(pages);
      return page.snapshot();
    };
    const seen = await marks(program);
    const by = counts(seen);
    const second = Object.keys(by).find((name) => name.startsWith('twice+0x')) ?? '';
    expect(by).toEqual({ solve: 7, twice: 1, [second]: 1 });
    expect(seen.regions[1].hint).toBe('parallel');
    expect(seen.threads).toHaveLength(1);
    execFileSync('strip', [program]);
    const stripped = counts(await marks(program));
    expect(Object.values(stripped).sort()).toEqual([1, 1, 7]);
    for (const name of Object.keys(stripped)) expect(name).toMatch(/^loops\+0x[0-9a-f]+$/);
  });

  it('is left alone where no controller looks on', async () => {
    const tool = join(libraries, 'libtriscope_openmp.so');
    const end = await ended(start([join(libraries, 'loops')], '', { OMP_TOOL_LIBRARIES: tool }));
    expect(end).toMatchObject({ code: 0, stderr: '' });
  });
});
