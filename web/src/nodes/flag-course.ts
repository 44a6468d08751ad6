/** The series that best shows the reason of a flag. Pure. */
import type { JobPageFacts } from '../../../src/view/facts/jobs.ts';

type Flag = Pick<JobPageFacts['flags'][number], 'set' | 'metric'>;

/** The track that shares most inputs with the flag's metric; else the first of these keys; null if there is none. */
export function courseOf(flag: Flag, job: JobPageFacts): string | null {
  const metric = job.metrics.find(({ set, name }) => set === flag.set && name === flag.metric);
  const inputs = new Set(metric?.inputs.map((input) => input.name));
  let [best, most] = ['', 0];
  for (const { id, inputs: own = [] } of job.tracks) {
    const share = own.filter((input) => inputs.has(input)).length / Math.max(1, own.length);
    if (share > most) [best, most] = [id, share];
  }
  if (best !== '') return best;
  const there = job.types.flatMap(({ type, keys }) => keys.map(({ name }) => `${type}.${name}`));
  return there.find((key) => inputs.has(key)) ?? null;
}
