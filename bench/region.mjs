// npm run bench:region: what entering and leaving a region costs, attached to a page and detached, beside what two
// readings of the clock cost, in Node, and in C where there is a compiler. Limits: 100 ns and 10 ns a pair.
import { fork, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAIRS = 1e6;
const ROUNDS = 15;

/** Best of the rounds, ns per call of `work`. */
function best(work) {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const began = process.hrtime.bigint();
    work(PAIRS);
    least = Math.min(least, Number(process.hrtime.bigint() - began) / PAIRS);
  }
  return least;
}

async function child() {
  const { region } = await import('../dist/region/index.js');
  const one = region('one', 'compute');
  const two = region('two', 'memory');
  const pair = (pairs) => {
    for (let k = 0; k < pairs; k++) {
      one.enter();
      one.exit();
    }
  };
  const nested = (pairs) => {
    for (let k = 0; k < pairs; k++) {
      one.enter();
      two.enter();
      two.exit();
      one.exit();
    }
  };
  const clock = (pairs) => {
    let sum = 0;
    for (let k = 0; k < pairs; k++) {
      const a = process.hrtime();
      const b = process.hrtime();
      sum += b[0] - a[0] + b[1] - a[1];
    }
    return sum;
  };
  const result = {
    attached: one.attached,
    pair: best(pair),
    nested: best(nested) / 2,
    clock: best(clock),
  };
  const before = process.memoryUsage().heapUsed;
  pair(PAIRS);
  result.bytes = (process.memoryUsage().heapUsed - before) / PAIRS;
  process.send(result);
}

/** Marks of the C library, and two readings of the clock: `threads` where the process has another thread. ns a pair. */
const IN_C = `#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "triscope_region.h"
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static int one, two;
static volatile double sum;
static void pair(void) { triscope_enter(one); triscope_exit(one); }
static void nested(void) { triscope_enter(one); triscope_enter(two); triscope_exit(two); triscope_exit(one); }
static void read_clock(void) { sum += now(); sum -= now(); }
static double best(void (*work)(void)) {
  double least = 1e9;
  for (int round = 0; round < ${ROUNDS}; round++) {
    double began = now();
    for (int k = 0; k < ${PAIRS}; k++) work();
    double each = (now() - began) / ${PAIRS};
    if (each < least) least = each;
  }
  return least;
}
static void *other(void *given) { for (;;) pause(); return given; }
int main(int argc, char **argv) {
  pthread_t thread;
  if (argc > 1 && strcmp(argv[1], "threads") == 0) pthread_create(&thread, NULL, other, NULL);
  one = triscope_region("one", TRISCOPE_HINT_COMPUTE);
  two = triscope_region("two", TRISCOPE_HINT_MEMORY);
  printf("%f %f %f\\n", best(pair), best(nested) / 2, best(read_clock));
}`;

/** [outermost, nested, clock] by `(region folder, word)`; null where there is no compiler. */
function inC(folder) {
  const source = join(folder, 'marks.c');
  writeFileSync(source, IN_C);
  const program = join(folder, 'marks');
  const native = fileURLToPath(new URL('../native', import.meta.url));
  const words = ['-O2', '-pthread', '-I', native, '-o', program, source];
  if (spawnSync('cc', [...words, join(native, 'triscope_region.c')]).status !== 0) return null;
  return (pages, ...args) =>
    spawnSync(program, args, {
      encoding: 'utf8',
      env: { ...process.env, TRISCOPE_REGION_DIR: pages },
    })
      .stdout.split(' ')
      .map(Number);
}

function run(env) {
  return new Promise((resolve, reject) => {
    const started = fork(fileURLToPath(import.meta.url), ['child'], {
      env: { ...process.env, ...env },
    });
    started.once('message', resolve);
    started.once('exit', (code) => reject(new Error(`the child ended with ${code}`)));
  });
}

if (process.argv[2] === 'child') await child();
else {
  const folder = mkdtempSync(join(tmpdir(), 'bench-region-'));
  try {
    const detached = await run({ TRISCOPE_REGION_DIR: '' });
    const page = await run({ TRISCOPE_REGION_DIR: join(folder, 'a') });
    const ring = await run({
      TRISCOPE_REGION_DIR: join(folder, 'b'),
      TRISCOPE_REGION_RING: '4096',
    });
    const c = inC(folder);
    const row = (what, ns, limit) =>
      console.log(
        `${what.padEnd(40)}${ns.toFixed(1).padStart(8)} ns${limit ? `   ${(ns / limit).toFixed(2)} of the limit` : ''}`,
      );
    row('detached: enter + exit', detached.pair, 10);
    row('page: enter + exit', page.pair, 100);
    row('page: enter + exit, nested', page.nested, 100);
    row('page and ring: enter + exit', ring.pair);
    row('two readings of the clock in Node', page.clock);
    if (c !== null) {
      row('C, detached: enter + exit', c('')[0], 10);
      const [alone, nested, clock] = c(join(folder, 'c'));
      row('C, page: enter + exit', alone, 100);
      row('C, page: enter + exit, nested', nested, 100);
      row('C, page, another thread: enter + exit', c(join(folder, 'd'), 'threads')[0], 100);
      row('two readings of the clock in C', clock);
    }
    console.log(
      `page / two readings of the clock${(page.pair / page.clock).toFixed(2).padStart(16)}`,
    );
    console.log(`bytes allocated per enter + exit${page.bytes.toFixed(2).padStart(16)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
