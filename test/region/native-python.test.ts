/** The Python module writes the page that the reader reads, alone and beside C. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { regionHash } from 'triscope/region';
import { describe, expect, it } from 'vitest';
import { counts, ended, freshFolder, marked, readers, start } from './pages.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

const FLAGS = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread', '-I', NATIVE];

describe.skipIf(!has('python3'))('a Python program (needs python3)', () => {
  const python = (text: string, env: Readonly<Record<string, string>> = {}) =>
    marked(['python3', '-c', `import triscope_region as triscope\n${text}`], {
      PYTHONPATH: NATIVE,
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    });

  it('marks nothing once its time has ended', async () => {
    const { seen, page } = await python(
      'with triscope.region("a"): pass\ntriscope.epoch(); triscope.shutdown()\nwith triscope.region("a"): triscope.epoch()',
    );
    expect([counts(seen), page.epochs]).toEqual([{ a: 1 }, 1]);
  });

  it.each([
    ['', ''],
    [' and without libatomic', 'import sys; sys.modules["ctypes"] = None'],
  ])('marks as Node does: context managers, decorators, threads, epochs%s', async (_, first) => {
    const { seen, page, stderr, code } = await python(
      `${first}
import threading
work = triscope.region("work", "compute")
@triscope.region("inner", "io")
def inner(): pass
def run():
    for k in range(100):
        with work: inner()
run()
threads = [threading.Thread(target=run) for k in range(3)]
for t in threads: t.start()
for t in threads: t.join()
triscope.epoch(); triscope.epoch()
a, b = triscope.region("a"), triscope.region(b"\\xff")
a.enter(); b.enter(); a.exit(); b.exit()
triscope.region("x" * 10000, "memory").enter(); triscope.tprof_init(5); triscope.tprof_post()
assert triscope.region("work", "memory").hint == "compute"
try: triscope.region("y", "quantum")
except ValueError as error: print(error)
`,
      { TRISCOPE_REGION_RING: '64' },
    );
    expect(code).toBe(0);
    expect(stderr).toBe(
      "triscope: region 'a' was left while inside others, which are left too; later cases are only counted\n",
    );
    expect(counts(seen)).toEqual({
      work: 400,
      'work/inner': 400,
      a: 1,
      'a/\ufffd': 1,
      ['x'.repeat(10_000)]: 0,
    });
    expect(seen.misordered).toBe(2);
    expect([page.epochs, page.workTotal[0], page.workDone[0], page.hint[0]]).toEqual([2, 5, 1, 3]);
    expect(page.hash[0]).toBe(regionHash('x'.repeat(10_000)));
    let events = 0;
    page.events(() => events++);
    expect(events).toBe(page.threads * 63);
    expect(events + page.eventsLost).toBe(4 * 400 + 2 + 4 + 1);
    expect(page.cpus.length).toBeGreaterThan(0);
    expect(page.stopped).toBeGreaterThan(page.lastEpoch);
  });

  it('killed or forked leaves what it marked', async () => {
    const pages = freshFolder();
    const text = `
import os, signal
import triscope_region as triscope
with triscope.region("before"):
    if os.fork() == 0:
        with triscope.region("child"): os._exit(0)
os.wait()
triscope.region("open", "network").enter()
os.kill(os.getpid(), signal.SIGKILL)`;
    const end = await ended(
      start(['python3', '-c', text], pages, { PYTHONPATH: NATIVE, PYTHONDONTWRITEBYTECODE: '1' }),
    );
    expect(end.signal).toBe('SIGKILL');
    expect(readers(pages).map((page) => counts(page.snapshot()))).toEqual(
      expect.arrayContaining([{ before: 1, open: 0 }, { child: 0 }]),
    );
  });
});

/** Whether Python can add atomically: what it then shares with C in one process is exact. */
const addsAtomically =
  has('cc') &&
  spawnSync('python3', ['-c', 'import ctypes; ctypes.CDLL("libatomic.so.1")']).status === 0;

describe.skipIf(!addsAtomically)(
  'Python and C in one process (need python3, cc, libatomic1)',
  () => {
    it('mark the same regions, and all is counted', async () => {
      const place = freshFolder();
      const source = join(place, 'beside.c');
      writeFileSync(
        source,
        `#include <pthread.h>
#include <stdio.h>
#include "triscope_region.h"
static int visits;
static volatile int over;
static void *mark(void *nothing) {
  int shared = triscope_region("shared", TRISCOPE_HINT_COMPUTE);
  for (int k = 0; k < 200; k++) {
    char name[16];
    snprintf(name, sizeof name, "name %d", __atomic_fetch_add(&visits, 1, __ATOMIC_RELAXED) % 400);
    int other = triscope_region(name, TRISCOPE_HINT_MEMORY);
    triscope_enter(shared);
    triscope_exit(shared);
    triscope_enter(other);
    triscope_exit(other);
    triscope_epoch();
  }
  return nothing;
}
void end(void) { over = 1; }
int go(void) {
  do {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, mark, NULL);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  } while (!over);
  return visits;
}`,
      );
      const beside = join(place, 'beside.so');
      const words = ['-shared', '-fPIC', '-o', beside, source, join(NATIVE, 'triscope_region.c')];
      execFileSync('cc', [...FLAGS, ...words], { stdio: 'pipe' });
      const text = `
import ctypes, sys, threading, time
import triscope_region as triscope
beside = ctypes.CDLL(sys.argv[1])
shared = triscope.region("shared", "compute")
began = time.monotonic_ns()
shared.enter()
entered = time.monotonic_ns()
there = []
runner = threading.Thread(target=lambda: there.append(beside.go()))
runner.start()
def mark(round):
    for k in range(100):
        with shared: pass
        with triscope.region("name %d" % ((100 * round + k) % 400), "memory"): pass
        triscope.epoch()
for round in range(5):
    threads = [threading.Thread(target=mark, args=(round,)) for k in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
beside.end()
runner.join()
within = time.monotonic_ns() - entered
shared.exit()
print(there[0] + 1000, within, time.monotonic_ns() - began)
`;
      const { seen, page, stdout, stderr, code } = await marked(['python3', '-c', text, beside], {
        PYTHONPATH: NATIVE,
        PYTHONDONTWRITEBYTECODE: '1',
      });
      expect([code, stderr]).toEqual([0, '']);
      const [visits, within, around] = stdout.split(' ').map(Number);
      const told = counts(seen);
      expect([told.shared, page.epochs]).toEqual([visits + 1, visits]);
      const named = Object.entries(told).filter(([name]) => name.startsWith('name '));
      expect(named).toHaveLength(400);
      expect(named.reduce((sum, [, count]) => sum + count, 0)).toBe(visits);
      // Whoever named it first: all visits are of one slot.
      const used = new Set(seen.nodes.map(({ region }) => region));
      const names = [...used].map((slot) => seen.regions[slot].name);
      expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
      expect([seen.misordered, seen.unplaced, seen.threadsRefused]).toEqual([0, 0, 0]);
      // The main thread was in it all the time, whoever else came and went.
      const slot = seen.regions.findIndex(({ name }) => name === 'shared');
      for (const { ns, open } of [seen.united[slot], seen.unitedAny]) {
        expect(open).toBe(false);
        expect(Number(ns)).toBeGreaterThanOrEqual(within - 1000);
        expect(Number(ns)).toBeLessThanOrEqual(around + 1000);
      }
    });
  },
);
