/** Reads the runs that are compared: two at a time, and of these the samples of thousands of KPs and LPs one after the other. */
import { releaseFreed } from '../../os/code-pages.ts';
import { type ComparedRun, type CompareOptions, runOf } from './run.ts';

/** Recordings that are open at once. Each takes memory, and statements of one leave processors idle. */
const AT_ONCE = 2;

/**
 * By path, in the order of the paths; a path that is given twice is read once. Ends the other readers if one fails.
 * @throws InputError, QueryError, MissingPieceError, MemoryLimitError; the signal's reason
 */
export async function readRuns(
  paths: readonly string[],
  { signal, ...options }: CompareOptions,
): Promise<ReadonlyMap<string, ComparedRun>> {
  const failed = new AbortController();
  const end = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const inTurn = oneAtATime();
  const known = new Map<string, ComparedRun | null>(paths.map((path) => [path, null]));
  const left = [...known.keys()];
  const read = async () => {
    try {
      for (let path = left.shift(); path !== undefined; path = left.shift()) {
        known.set(path, await runOf(path, { ...options, signal: end, inTurn }));
      }
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, read));
  for (const one of ends) if (one.status === 'rejected') throw one.reason;
  return new Map([...known].map(([path, run]) => [path, run as ComparedRun]));
}

/** Does work after what it was given before, with the memory that this freed given back. */
function oneAtATime(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    const next = last.then(releaseFreed).then(work);
    last = next.catch(() => {});
    return next;
  };
}
