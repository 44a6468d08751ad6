/** Damaged files, for `npm run fuzz`: each worker runs the cases of one format that are its own; the main thread sees that each case ends. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Result } from '../reliability/table.ts';
import { FUZZED, type Through } from './formats.ts';
import { caseOf, newTally, runCases, type Tally } from './run.ts';

export interface Job {
  readonly format: string;
  readonly through: Through;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** The number of the case that is being run. */
  readonly current: SharedArrayBuffer;
  /** Not 0 once no further case is to begin. */
  readonly ended: SharedArrayBuffer;
}

/** Seconds of this process's CPU after which a case is taken for one without end: the machine may do other things meanwhile. */
const PATIENCE = 120;
/** What a worker does. */
export function work({ format, through, seed, from, to, current, ended }: Job): Promise<Tally> {
  const at = new Int32Array(current);
  const end = new Int32Array(ended);
  return runCases(format, { seed, from, to }, through, (number) => {
    Atomics.store(at, 0, number);
    return Atomics.load(end, 0) === 0;
  });
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Runs a share of the cases; one that does not end, or ends the worker, is a failure. */
async function share(script: URL, job: Omit<Job, 'current'>): Promise<Tally> {
  const current = new SharedArrayBuffer(4);
  const at = new Int32Array(current);
  at[0] = job.from;
  const worker = new Worker(script, { workerData: { ...job, current } });
  let seen = -1;
  let since = cpuSeconds();
  return await new Promise((resolve) => {
    const lost = (message: string) => {
      clearInterval(watch);
      void worker.terminate();
      const number = Atomics.load(at, 0);
      const { base, damage } = caseOf(job.format, FUZZED[job.format].bases(), job.seed, number);
      const failure = { number, file: base.name, how: damage.how, bytes: damage.bytes, message };
      resolve({ ...newTally(), cases: number - job.from + 1, failed: 1, failures: [failure] });
    };
    const watch = setInterval(() => {
      const number = Atomics.load(at, 0);
      if (number !== seen) {
        seen = number;
        since = cpuSeconds();
      } else if (cpuSeconds() - since > PATIENCE) lost(`did not end within ${PATIENCE} s of CPU`);
    }, 1000);
    worker.on('message', (tally: Tally) => {
      clearInterval(watch);
      resolve(tally);
    });
    worker.on('error', ({ message }) => lost(`ended its thread: ${message}`));
  });
}

function add(into: Tally, one: Tally): void {
  into.cases += one.cases;
  into.failed += one.failed;
  into.failures.push(...one.failures);
  for (const [verdict, count] of Object.entries(one.verdicts)) {
    into.verdicts[verdict as keyof Tally['verdicts']] += count;
  }
  for (const [kind, count] of Object.entries(one.kinds)) {
    into.kinds[kind] = (into.kinds[kind] ?? 0) + count;
  }
}

export interface FuzzOptions {
  readonly formats: readonly string[];
  readonly through: Through;
  readonly seed: number;
  /** Cases from this number on, and how many. */
  readonly from: number;
  readonly cases: number;
  readonly threads: number;
  /** Folder for the files of failures; null: they are not kept. */
  readonly keep: string | null;
}

/**
 * Runs the cases of each format. SIGINT or SIGTERM ends it: what was counted until then is told.
 * @param script runs `work` in a worker
 */
export async function* fuzz(script: URL, options: FuzzOptions): AsyncGenerator<Result> {
  const { through, seed, from, cases, threads, keep } = options;
  const ended = new SharedArrayBuffer(4);
  const end = () => Atomics.store(new Int32Array(ended), 0, 1);
  process.once('SIGINT', end).once('SIGTERM', end);
  for (const format of options.formats) {
    const began = Date.now();
    const shares = Math.max(1, Math.min(threads, cases));
    const edge = (k: number) => from + Math.floor((cases * k) / shares);
    const tallies = await Promise.all(
      Array.from({ length: shares }, (_, k) =>
        share(script, { format, through, seed, from: edge(k), to: edge(k + 1), ended }),
      ),
    );
    const total = newTally();
    for (const tally of tallies) add(total, tally);
    const { verdicts: v } = total;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    console.log(
      `${format}, ${through}: ${total.cases} cases, ${total.failed} failures; ${v.refused} refused, ${v.told} told, ${v.same} the same, ${v.other} other data; ${seconds} s`,
    );
    for (const { number, file, how, message, bytes } of total.failures) {
      console.log(`  case ${number}, ${file}, ${how}: ${message}`);
      if (keep === null) continue;
      mkdirSync(keep, { recursive: true });
      writeFileSync(join(keep, `${format}-${seed}-${number}`), bytes);
    }
    if (total.cases > 0) {
      const how = through === 'commands' ? ' through commands' : '';
      yield { name: `damaged files${how}: ${format}`, cases: total.cases, failures: total.failed };
    }
    if (total.cases < cases) break;
  }
  process.off('SIGINT', end).off('SIGTERM', end);
}
