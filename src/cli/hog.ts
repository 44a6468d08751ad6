/** Other work on a CPU, on purpose: the demo shows what it does to the PE that runs there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pinThread } from '../os/affinity.ts';

const FILE = fileURLToPath(import.meta.url);

/** They are processes, since CPU time of the run's own threads would not count as other work. */
export class Hog {
  private readonly processes: readonly ChildProcess[];

  /** `count` processes that want all of `cpu`, for at most so many seconds. */
  constructor(cpu: number, count: number, seconds: number) {
    this.processes = Array.from({ length: count }, () => {
      const one = spawn(process.execPath, [FILE, String(cpu), String(seconds)], {
        stdio: 'ignore',
      });
      // Without other work, the demo has less to show.
      one.on('error', () => {});
      one.unref();
      return one;
    });
  }

  end(): void {
    for (const one of this.processes) one.kill('SIGKILL');
  }
}

/** Milliseconds between looks at whether its parent is still there. */
const LOOK_EVERY_MS = 50;

function work(cpu: number, seconds: number): void {
  // A process that cannot be bound to the CPU slows every PE.
  pinThread(cpu);
  const parent = process.ppid;
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end && process.ppid === parent) {
    const look = performance.now() + LOOK_EVERY_MS;
    while (performance.now() < look);
  }
}

if (process.argv[1] === FILE) work(Number(process.argv[2]), Number(process.argv[3]));
