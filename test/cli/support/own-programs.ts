/** Programs that are made for a test, and tell their own times: what they say brackets what a controller has recorded of them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { recomputes, TRACED } from './recomputed.ts';
import { type Launched, launched, programFolder } from './region.ts';
import { temporaryFolder } from './run.ts';

const NATIVE = fileURLToPath(new URL('../../../native', import.meta.url));
const OPTIONS = ['--geopm-period=0.02', ...TRACED];
export const has = (command: string) => spawnSync(command, ['--version']).status === 0;
export const ENV = {
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

export async function python(text: string, options: readonly string[] = []): Promise<Launched> {
  const folder = programFolder('');
  writeFileSync(join(folder, 'app.py'), PYTHON + text);
  return launched(folder, [...OPTIONS, ...options], ['python3', 'app.py'], { env: ENV });
}

/**
 * Each process's own seconds, of its own clock, bracket its record (to `slack`, where it could not look inside); the report has
 * their mean. All else is what the traces say.
 */
export function agrees(run: Launched, region: string, slack = 1e-6, seenLate = 0): void {
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
export function inC(text: string, compiler: string, words: readonly string[]): string {
  const folder = programFolder('');
  writeFileSync(join(folder, 'app.c'), OWN + text);
  execFileSync(compiler, ['app.c', '-o', 'app', ...words], { cwd: folder });
  return folder;
}
export const MARKING = ['-I', NATIVE, join(NATIVE, 'triscope_region.c'), '-pthread'];

export async function run(
  folder: string,
  command: readonly string[] = ['./app'],
): Promise<Launched> {
  const outcome = await launched(folder, OPTIONS, command, { env: ENV });
  expect([outcome.code, outcome.err]).toEqual([0, '']);
  expect(outcome.host.Triscope.complete).toBe(true);
  return outcome;
}
