// What two threads find on this machine: how long a cache line takes to the other CPU, and how fast the CPUs are, each alone.
// Virtual CPUs often differ in speed (another machine's thread on the same core) and in distance.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Seconds that a cache line takes from one CPU to another: the best of many transfers back and forth. */
export async function transfer() {
  const TIMES = 2000;
  const words = new Int32Array(new SharedArrayBuffer(128));
  const echo = `const { workerData: w } = require('node:worker_threads');
    for (let k = 1; ; k += 2) { while (Atomics.load(w, 0) < k); Atomics.store(w, 0, k + 1); }`;
  const worker = new Worker(echo, { eval: true, workerData: words });
  await new Promise((resolve) => worker.once('online', resolve));
  let best = Infinity;
  for (let batch = 0, k = 1; batch < 50; batch++) {
    const started = performance.now();
    for (let n = 0; n < TIMES; n++, k += 2) {
      Atomics.store(words, 0, k);
      while (Atomics.load(words, 0) < k + 1);
    }
    best = Math.min(best, (performance.now() - started) / 2000 / TIMES);
  }
  await worker.terminate();
  return best;
}

/**
 * Prints a line of both.
 * @param command a program and its arguments; its output is JSON with an `eventRate`
 */
export async function describeCpus(command) {
  if (availableParallelism() < 2) return;
  const runs = [0, 1].map((cpu) =>
    spawnSync('taskset', ['-c', String(cpu), ...command], { encoding: 'utf8' }),
  );
  const rate = ({ stdout }) => (JSON.parse(stdout).eventRate / 1e6).toFixed(1);
  const rates = runs.every(({ status }) => status === 0)
    ? `M runs at ${rate(runs[0])} Mev/s on CPU 0, and at ${rate(runs[1])} on CPU 1`
    : 'Without taskset their speeds are not measured';
  const microseconds = (1e6 * (await transfer())).toFixed(2);
  console.log(`A cache line takes ${microseconds} µs to the other CPU. ${rates}.\n`);
}
