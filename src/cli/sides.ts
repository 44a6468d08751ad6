/** The runs of A and of B on a command line: `a1 a2 -- b1 b2`. */
import { UsageError } from './errors.ts';

export interface Sides {
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/**
 * Null where there is no `--`.
 * @param words the recordings, without options and `--` @param args every word as it was given
 * @throws UsageError where a side is empty
 */
export function sidesIn(words: readonly string[], args: readonly string[]): Sides | null {
  const at = args.indexOf('--');
  if (at < 0) return null;
  const ofA = words.length - (args.length - 1 - at);
  const [a, b] = [words.slice(0, ofA), words.slice(ofA)];
  if (a.length === 0 || b.length === 0) {
    throw new UsageError('name recordings on both sides of --, such as a1 a2 -- b1 b2');
  }
  return { a, b };
}
