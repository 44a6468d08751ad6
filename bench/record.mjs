// npm run bench:record -- PAIRS: what `triscope record` costs. Needs an idle machine with two CPUs, and cc; about six minutes.
// First the recorder's own processor time beside threads that work and sleep in turns (aim: 1 % of a core for 64), then the time
// of three programs with and without it, in pairs (aim: 2 %), beside what two runs without it differ by: a difference smaller than that shows nothing.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../bin/triscope', import.meta.url));
const PAIRS = Number(process.argv[2] ?? 15);
const folder = mkdtempSync(join(tmpdir(), 'bench-record-'));
/** Clock ticks per second, as /proc counts them. */
const HZ = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

const THREADS = `
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *seconds) {
  for (long k = 0; k < (long)seconds * 100; k++) {
    for (volatile int n = 0; n < 20000; n++) {}
    usleep(10000);
  }
  return NULL;
}
int main(int count, char **words) {
  pthread_t all[1024];
  int threads = atoi(words[1]);
  long seconds = atoi(words[2]);
  for (int k = 0; k < threads; k++) pthread_create(&all[k], NULL, work, (void *)seconds);
  for (int k = 0; k < threads; k++) pthread_join(all[k], NULL);
  return count < 0;
}`;

/** Each works for some seconds and prints its seconds from its own start to its end. */
const PROGRAMS = {
  'one thread that computes':
    'const t = process.hrtime.bigint(); let s = 0; for (let k = 0; k < 1.5e9; k++) s += k % 7; console.log(Number(process.hrtime.bigint() - t) / 1e9, s)',
  'a program that allocates':
    'const t = process.hrtime.bigint(); let s = 0; for (let k = 0; k < 200; k++) s += Buffer.alloc(3e7, k).length + JSON.stringify(Array.from({ length: 1e5 }, (_, n) => ({ n }))).length; console.log(Number(process.hrtime.bigint() - t) / 1e9, s)',
  'a program that starts others':
    'const { spawnSync } = require("child_process"); const t = process.hrtime.bigint(); for (let k = 0; k < 2000; k++) spawnSync("true"); console.log(Number(process.hrtime.bigint() - t) / 1e9)',
};

const record = (name, options, words) => [
  process.execPath,
  BIN,
  'record',
  '-o',
  join(folder, name),
  ...options,
  '--',
  ...words,
];
const start = ([file, ...args]) =>
  spawn(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
const outOf = (child) =>
  new Promise((resolve) => {
    let out = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.on('close', () => resolve(out));
  });

/** Seconds of processor time of a process's own threads so far. */
function secondsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / HZ;
}

/** Seconds after its start between which the recorder is watched: while V8 still compiles and tidies up, and afterwards. */
const EARLY = [3, 10];
const LATE = [12, 28];

/** Shares of a core that the recorder takes while a command with so many threads runs: early, and later. */
async function shares(threads, options) {
  const name = `threads-${threads}-${options.join('')}`;
  const child = start(record(name, options, ['./threads', `${threads}`, `${LATE[1] + 1}`]));
  const done = outOf(child);
  const started = performance.now();
  const used = [];
  for (const [from, to] of [EARLY, LATE]) {
    await sleep(started + 1000 * from - performance.now());
    const [before, begun] = [secondsOf(child.pid), performance.now()];
    await sleep(started + 1000 * to - performance.now());
    used.push((secondsOf(child.pid) - before) / ((performance.now() - begun) / 1000));
  }
  await done;
  return used;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const percent = (value) => `${(100 * value).toFixed(2)} %`;

try {
  writeFileSync(join(folder, 'threads.c'), THREADS);
  execFileSync('cc', ['-O1', '-pthread', '-o', 'threads', 'threads.c'], { cwd: folder });
  console.log('processor time of the recorder, share of one core (aim: 1 % for 64 threads)');
  const tell = (name, [early, late]) =>
    console.log(
      `  ${name}: ${percent(late)} in seconds ${LATE.join(' to ')}, ${percent(early)} in seconds ${EARLY.join(' to ')}`,
    );
  const ONLY = ['--no-node', '--no-regions'];
  for (const threads of [64, 256]) tell(`threads alone, ${threads}`, await shares(threads, ONLY));
  tell('at defaults, 64', await shares(64, []));
  console.log('\ntime of the program, with / without, medians of pairs (aim: 1.02)');
  let runs = 0;
  const time = async (words) => Number((await outOf(start(words))).split(' ')[0]);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    const words = [process.execPath, '-e', script];
    const recorded = () => time(record(`run-${runs++}`, [], words));
    const [without, ratios, again] = [[], [], []];
    for (let pair = 0; pair < PAIRS; pair++) {
      // Each comes first in every other pair: the machine's speed drifts.
      const early = pair % 2 === 0 ? await time(words) : null;
      const with_ = await recorded();
      const plain = early ?? (await time(words));
      without.push(plain);
      ratios.push(with_ / plain);
      again.push((await time(words)) / plain);
    }
    const range = (all) =>
      `${median(all).toFixed(3)} (${Math.min(...all).toFixed(3)} – ${Math.max(...all).toFixed(3)})`;
    console.log(
      `  ${name}, ${median(without).toFixed(2)} s: ${range(ratios)}; without / without: ${range(again)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
