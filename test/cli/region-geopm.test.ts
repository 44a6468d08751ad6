/** Programs that include, call and are linked as GEOPM's manual says, in each language; programs of GCC with OpenMP. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { launched, programFolder } from './support/region.ts';
import { temporaryFolder, triscope } from './support/run.ts';

const has = (command: string) => spawnSync(command, ['--version']).status === 0;
const fortran = ['gfortran', 'gfortran-12'].find(has);
const env = { XDG_CACHE_HOME: temporaryFolder(), OMP_NUM_THREADS: '2' };
const built = join(env.XDG_CACHE_HOME, 'triscope');
const folder = programFolder('');

/** Each leaves `work` three times, in three epochs; any other exit code than 0 is a line of its own. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'app.c': `
#include <geopm_error.h>
#include <geopm_hash.h>
#include <geopm_hint.h>
#include <geopm_imbalancer.h>
#include <geopm_prof.h>
#include <geopm_time.h>
#include <string.h>
int main(void) {
  uint64_t id;
  char text[64];
  struct geopm_time_s began;
  if (geopm_prof_region("work", GEOPM_NUM_REGION_HINT, &id) != GEOPM_ERROR_INVALID) return 2;
  if (geopm_prof_region("work", GEOPM_REGION_HINT_MEMORY, &id)) return 3;
  if ((uint32_t)id != geopm_crc32_str("work") || geopm_crc32_str("A") != 0xd3d99e8b) return 4;
  geopm_error_message(GEOPM_ERROR_INVALID, text, sizeof text);
  if (!strstr(text, "Invalid")) return 5;
  if (geopm_imbalancer_frac(-1) == 0 || geopm_imbalancer_frac(1)) return 6;
  for (int k = 0; k < 3; k++) {
    geopm_prof_epoch();
    geopm_prof_enter(id);
    geopm_imbalancer_enter();
    geopm_time(&began);
    while (geopm_time_since(&began) < 0.002) continue;
    geopm_imbalancer_exit();
    if (geopm_time_since(&began) < 0.004) return 7;
    geopm_prof_exit(id);
  }
  return geopm_prof_shutdown();
}`,
  'app.cpp': `
#include <geopm/Profile.hpp>
#include <cstring>
#include <vector>
namespace heat {
template <class T> struct Solver {
  static T step(int n) {
    T sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int k = 0; k < n; k++) sum += k;
    return sum;
  }
};
}
// The call that begins the region may be this function's last instruction.
static void twice(std::vector<double> &v) {
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < (int)v.size(); k++) v[k] += k;
#pragma omp parallel
  { v[0] = 1; }
}
int main() {
  auto &profile = geopm::Profile::default_profile();
  try {
    profile.region("work", -1);
    return 2;
  } catch (const geopm::Exception &error) {
    if (error.err_value() != GEOPM_ERROR_INVALID) return 3;
  }
  std::vector<double> v(9);
  for (int k = 0; k < 7; k++) heat::Solver<double>::step(100);
  for (int k = 0; k < 4; k++) twice(v);
  uint64_t id = profile.region("work", GEOPM_REGION_HINT_MEMORY);
  for (int k = 0; k < 3; k++) {
    profile.epoch();
    profile.enter(id);
    profile.exit(id);
  }
}`,
  'app.f90': `
program app
  use geopm_prof
  implicit none
  integer :: error, k
  integer(8) :: id
  error = geopm_prof_region(c_char_'work'//c_null_char, GEOPM_REGION_HINT_MEMORY, id)
  do k = 1, 3
    error = geopm_prof_epoch()
    error = geopm_prof_enter(id)
    error = geopm_tprof_init(2)
    error = geopm_tprof_post()
    if (geopm_prof_exit(id) /= 0) stop 2
  end do
end program`,
  'app.py': `
import ctypes
geopm = ctypes.CDLL("libgeopm.so.2")
number = ctypes.c_uint64()
assert geopm.geopm_prof_region(b"work", ctypes.c_uint64(3), ctypes.byref(number)) == 0
for k in range(3):
    geopm.geopm_prof_epoch()
    geopm.geopm_prof_enter(number)
    assert geopm.geopm_prof_exit(number) == 0
`,
};

async function flags(...kinds: readonly string[]): Promise<readonly string[]> {
  const { code, out } = await triscope(['region', 'flags', ...kinds], { env });
  expect(code).toBe(0);
  return out.trim().split(' ');
}

async function run(command: readonly string[]) {
  const outcome = await launched(folder, ['--geopm-period=0.02'], command, { env });
  const { code, err, host } = outcome;
  expect([code, err]).toEqual([0, '']);
  const counts = Object.fromEntries(
    (host.Regions ?? []).map(({ region, count }) => [region, count]),
  );
  expect(host.Triscope.geopm['epoch count']).toBe(3);
  return counts;
}

describe.skipIf(!has('cc'))('a program marked for GEOPM (needs gcc)', () => {
  beforeAll(async () => {
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(folder, name), text);
    const missing = await triscope(['region', 'flags'], { env });
    expect(missing.code).toBe(4);
    expect(missing.err).toContain('triscope region build-shims geopm builds it');
    const kinds = ['geopm', 'gomp', ...(fortran === undefined ? [] : ['fortran'])];
    const { code, err } = await triscope(['region', 'build-shims', ...kinds], { env });
    expect([code, err]).toEqual([0, '']);
  });

  it('in C is compiled with its headers and finds the library without being told where', async () => {
    const file = readFileSync(join(built, 'pkgconfig', 'geopm.pc'), 'utf8');
    expect(file).toContain(`prefix=${built}\n`);
    const words = await flags('--compile', '--link');
    // The path of the library is left out: region launch says it.
    const plain = words.filter((word) => !word.includes('-rpath'));
    execFileSync('cc', ['-Wall', '-Werror', 'app.c', '-o', 'app-c', ...plain], { cwd: folder });
    expect(spawnSync(join(folder, 'app-c')).status).toBe(127);
    expect(await run(['./app-c'])).toEqual({ work: 3 });
  });

  it.skipIf(!has('g++'))(
    'in C++, with OpenMP of GCC: parallel regions by their functions’ names (needs g++)',
    async () => {
      const words = ['-O2', '-fopenmp', 'app.cpp', '-o', 'app-cpp', ...(await flags())];
      execFileSync('g++', words, { cwd: folder });
      const counts = await run(['./app-cpp']);
      const twice = 'twice(std::vector<double, std::allocator<double> >&)';
      const second = Object.keys(counts).find((name) => name.startsWith(`${twice}+0x`)) ?? '';
      const step = 'heat::Solver<double>::step(int)';
      expect(counts).toEqual({ work: 3, [step]: 7, [twice]: 4, [second]: 4 });
    },
  );

  it.skipIf(fortran === undefined)('in Fortran uses the module (needs gfortran)', async () => {
    const words = ['app.f90', '-o', 'app-f', ...(await flags('--fortran', '--link'))];
    execFileSync(fortran ?? '', words, { cwd: folder });
    expect(await run(['./app-f'])).toEqual({ work: 3 });
  });

  it.skipIf(!has('python3'))('in Python loads the library by its name', async () => {
    expect(await run(['python3', 'app.py'])).toEqual({ work: 3 });
  });
});
