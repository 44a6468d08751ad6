/** A process's time in a region is the time in which any of its threads was in it, whichever language marks. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../src/region/controller/process-record.ts';
import { ApplicationProcess } from '../../src/region/controller/process-table.ts';
import { PageReader } from '../../src/region/page-reader.ts';
import { freshFolder, inNode, type Marked, marked } from './pages.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

/** The process's record in the report. */
function record({ page }: Marked) {
  const process = new ApplicationProcess(new PageReader(page.path), null);
  process.poll();
  return recordOf(process, process.zero, process.ended);
}

/**
 * What the program says of itself, by its own clock: seconds between all entries and exits, and around them. The
 * region's lie between the two, however busy the machine.
 */
function agrees(run: Marked, region = 'r'): void {
  const [within, around] = run.stdout.trim().split(' ').map(Number);
  const { regions, inside, started, ended } = record(run);
  const visits = regions.find(({ name }) => name === region);
  expect(within).toBeGreaterThan(0);
  expect(visits?.seconds).toBeGreaterThanOrEqual(within);
  expect(visits?.seconds).toBeLessThanOrEqual(around);
  expect(inside).toBeCloseTo(visits?.seconds ?? 0, 6);
  expect(ended - started).toBeGreaterThanOrEqual(inside);
}

function inC(body: string): Promise<Marked> {
  const folder = freshFolder();
  const source = join(folder, 'threads.c');
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "triscope_region.h"
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static int r;
static double within, around;
static void say(void) { printf("%.9f %.9f\\n", within, around); }
${body}`,
  );
  const program = join(folder, 'threads');
  const files = [source, join(NATIVE, 'triscope_region.c')];
  const flags = ['-std=gnu11', '-O2', '-Wall', '-Werror', '-pthread', '-I', NATIVE];
  execFileSync('cc', [...flags, '-o', program, ...files], { stdio: 'pipe' });
  return marked([program]);
}

const inPython = (text: string) =>
  marked(['python3', '-c', `import triscope_region as triscope, threading, time\n${text}`], {
    PYTHONPATH: NATIVE,
    PYTHONDONTWRITEBYTECODE: '1',
  });

describe('threads that follow each other', () => {
  it.skipIf(!has('cc'))('in C (needs cc)', async () => {
    const run = await inC(`
static void *work(void *nothing) {
  double began = now();
  triscope_enter(r);
  double entered = now();
  usleep(5000);
  within += now() - entered;
  triscope_exit(r);
  around += now() - began;
  return nothing;
}
int main(void) {
  r = triscope_region("r", 2);
  for (int k = 0; k < 40; k++) { pthread_t t; pthread_create(&t, NULL, work, NULL); pthread_join(t, NULL); }
  say();
}`);
    agrees(run);
    expect(record(run).regions[0].count).toBe(40);
  });

  it.skipIf(!has('python3'))('in Python (needs python3)', async () => {
    const run = await inPython(`
r, within, around = triscope.region("r"), 0.0, 0.0
def work():
    global within, around
    began = time.monotonic()
    with r:
        entered = time.monotonic()
        time.sleep(0.01)
        left = time.monotonic()
    within, around = within + left - entered, around + time.monotonic() - began
for k in range(20):
    t = threading.Thread(target=work); t.start(); t.join()
print(within, around)`);
    agrees(run);
    expect(run.seen.threads).toHaveLength(1);
  });

  it('in Node', async () => {
    const run = await inNode(`
      import { Worker, isMainThread, parentPort } from 'node:worker_threads';
      if (isMainThread) {
        let [within, around] = [0, 0];
        for (let k = 0; k < 4; k++) {
          await new Promise((resolve) => {
            const worker = new Worker(new URL(import.meta.url));
            worker.once('message', ([a, b]) => { within += a; around += b; });
            worker.once('exit', resolve);
          });
        }
        console.log(within, around);
      } else {
        const r = region('r');
        const began = performance.now();
        r.enter();
        const entered = performance.now();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
        const within = performance.now() - entered;
        r.exit();
        parentPort.postMessage([within / 1000, (performance.now() - began) / 1000]);
      }
    `);
    agrees(run);
  });
});

describe('threads that overlap', () => {
  it.skipIf(!has('cc'))('in C (needs cc): they leave one by one, the last by ending', async () => {
    const run = await inC(`
static pthread_barrier_t all;
static double first, last;
static void *work(void *index) {
  triscope_enter(r);
  pthread_barrier_wait(&all);
  if (!index) first = now();
  usleep(20000 * (long)index + 5000);
  if ((long)index == 3) { last = now(); return NULL; }
  triscope_exit(r);
  return NULL;
}
int main(void) {
  r = triscope_region("r", 2);
  pthread_t t[4];
  pthread_barrier_init(&all, NULL, 4);
  double began = now();
  for (long k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, (void *)k);
  for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
  around = now() - began;
  within = last - first;
  usleep(100000);
  say();
}`);
    agrees(run);
    const { regions } = record(run);
    expect(regions[0].count).toBe(3);
    expect(regions[0].threadSeconds).toBeGreaterThanOrEqual(0.14);
  });

  it.skipIf(!has('cc'))('half a million visits of four threads lose nothing', async () => {
    const run = await inC(`
static int all;
static void *work(void *nothing) {
  for (int k = 0; k < 125000; k++) { triscope_enter(r); triscope_exit(r); }
  return nothing;
}
int main(void) {
  r = triscope_region("r", 2), all = triscope_region("all", 2);
  pthread_t t[4];
  double began = now();
  triscope_enter(all);
  double entered = now();
  for (int k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, NULL);
  for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
  within = now() - entered;
  triscope_exit(all);
  around = now() - began;
  say();
}`);
    agrees(run, 'all');
    const visits = record(run).regions.find(({ name }) => name === 'r');
    expect(visits?.count).toBe(500_000);
    expect(visits?.seconds).toBeLessThanOrEqual(visits?.threadSeconds ?? 0);
    // Every beginning has its end: nobody is inside any more.
    expect(run.seen.united.every(({ open }) => !open)).toBe(true);
    expect(run.seen.unitedAny.open).toBe(false);
  });

  it.skipIf(!has('python3'))('in Python (needs python3)', async () => {
    const run = await inPython(`
r, all = triscope.region("r"), threading.Barrier(4)
first, last = [], []
def work(after):
    with r:
        all.wait()
        first.append(time.monotonic())
        time.sleep(0.03 * after + 0.01)
        last.append(time.monotonic())
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
began = time.monotonic()
for t in threads: t.start()
for t in threads: t.join()
print(max(last) - max(first), time.monotonic() - began)`);
    agrees(run);
  });
});
