/** Reports of kinds of program, beside what the programs' own clocks say. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { addsUp, type Launched, launched, programFolder } from './support/region.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const OPTIONS = ['--geopm-period=0.02', '--synthetic'];
const hasPython = spawnSync('python3', ['--version']).status === 0;
const ENV = { PYTHONPATH: NATIVE, PYTHONDONTWRITEBYTECODE: '1' };

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
        file.write("%.9f %.9f" % (within, around))
`;

async function python(text: string, options: readonly string[] = []): Promise<Launched> {
  const folder = programFolder('');
  writeFileSync(join(folder, 'app.py'), PYTHON + text);
  return launched(folder, [...OPTIONS, ...options], ['python3', 'app.py'], { env: ENV });
}

/** Each process's own seconds, of its own clock, bracket its record; the report has their mean. */
function agrees({ folder, host }: Launched, region: string): void {
  const own = readdirSync(folder).filter((name) => name.startsWith(`own-${region}-`));
  const { processes } = host.Triscope;
  let [within, around] = [0, 0];
  for (const name of own) {
    const [least, most] = readFileSync(join(folder, name), 'utf8').split(' ').map(Number);
    const pid = Number(name.split('-')[2]);
    const visits = processes
      .filter((process) => process.pid === pid)
      .flatMap(({ regions }) => regions)
      .find((one) => one.region === region);
    expect(visits?.count).toBe(1);
    expect(visits?.['runtime (s)']).toBeGreaterThanOrEqual(least - 1e-6);
    expect(visits?.['runtime (s)']).toBeLessThanOrEqual(most + 1e-6);
    within += least;
    around += most;
  }
  const section = host.Regions?.find((one) => one.region === region);
  expect(section?.count).toBeCloseTo(own.length / processes.length, 5);
  expect(section?.['runtime (s)']).toBeGreaterThanOrEqual((0.9999 * within) / processes.length);
  expect(section?.['runtime (s)']).toBeLessThanOrEqual((1.0001 * around) / processes.length);
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
visit("first", 0.1)
if len(sys.argv) == 1:
    triscope.region("left open").enter()
    os.execv(sys.executable, [sys.executable, "-c", "import time, triscope_region as t\\nwith t.region('second'): time.sleep(0.1)"])
`);
    expect([run.code, run.err]).toEqual([0, '']);
    const { processes, complete } = run.host.Triscope;
    expect(complete).toBe(true);
    expect(processes.map(({ replaced = false }) => replaced)).toEqual([true, false]);
    expect(processes[0].pid).toBe(processes[1].pid);
    const [[first], [second]] = processes.map(({ regions }) => regions);
    expect([first.region, second.region]).toEqual(['first', 'second']);
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

describe.skipIf(spawnSync('cc', ['--version']).status !== 0)('a program in C (needs gcc)', () => {
  it('that forks and nests: each process’s own clock brackets its record', async () => {
    const folder = programFolder('');
    writeFileSync(
      join(folder, 'app.c'),
      `#include "triscope_region.h"
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void visit(const char *name, const char *inner, int milliseconds) {
  char path[64];
  int outside = triscope_region(name, TRISCOPE_HINT_COMPUTE);
  double began = now();
  triscope_enter(outside);
  double entered = now();
  if (inner) visit(inner, NULL, milliseconds);
  usleep(1000 * milliseconds);
  double within = now() - entered;
  triscope_exit(outside);
  double around = now() - began;
  snprintf(path, sizeof path, "own-%s-%d", name, (int)getpid());
  FILE *file = fopen(path, "w");
  fprintf(file, "%.9f %.9f", within, around);
  fclose(file);
}
int main(void) {
  visit("first", NULL, 20);
  for (int k = 0; k < 2; k++) {
    if (fork() == 0) {
      visit("outer", "inner", 100);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}`,
    );
    const source = join(NATIVE, 'triscope_region.c');
    const words = ['-I', NATIVE, 'app.c', source, '-pthread', '-o', 'app'];
    execFileSync('cc', words, { cwd: folder });
    const run = await launched(folder, OPTIONS, ['./app']);
    expect([run.code, run.err]).toEqual([0, '']);
    expect(run.host.Triscope.complete).toBe(true);
    expect(run.host.Triscope.processes).toHaveLength(3);
    agrees(run, 'first');
    agrees(run, 'outer');
    addsUp(run);
    // Time goes to the outermost region; what is inside it is told with the process.
    const names = run.host.Regions?.map(({ region }) => region);
    expect(names?.toSorted()).toEqual(['first', 'outer']);
    expect(JSON.stringify(run.host.Triscope.regions)).toContain('"inner"');
  });
});

describe('a Node program', () => {
  it('that ends between samples: hints end where time does', async () => {
    const body = "const r = region('r', 'compute'); r.enter(); sleep(150); r.exit();";
    const run = await launched(programFolder(body), ['--geopm-period=0.1', '--synthetic']);
    addsUp(run);
    expect(run.host.Triscope.complete).toBe(true);
  });
});
