/** Which program a job runs. */
import type { Job } from './job.ts';

/** Programs that start others: they count as the job's program only if no other program runs. */
const STARTERS =
  /^(-?(ba|z|c|tc|k|da)?sh|slurm\w*|srun|mpirun|mpiexec(\.\w+)?|orted|prted|hydra_\w+|env|sleep)$/;

/** The program that most of the job's processes run; '' if no file has this. Among several, the one with the most memory, then the first by name. */
export function applicationOf({ hosts }: Job): string {
  const found = new Map<string, { count: number; memory: number }>();
  for (const { processes } of hosts) {
    for (const { name, highWater } of processes.list) {
      const of = found.get(name) ?? { count: 0, memory: 0 };
      found.set(name, { count: of.count + 1, memory: of.memory + (highWater ?? 0) });
    }
  }
  const own = [...found].filter(([name]) => !STARTERS.test(name));
  const all = own.length > 0 ? own : [...found];
  all.sort(([a, x], [b, y]) => y.count - x.count || y.memory - x.memory || (a < b ? -1 : 1));
  return all[0]?.[0] ?? '';
}
