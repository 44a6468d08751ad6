/** Pairs the hosts of two recordings. */

const short = (name: string): string => name.split('.')[0];

/**
 * B's hosts by their names in A: those called the same; of the others, where both have equally many, the first with the
 * first, and so on. Hosts without a counterpart are not in it.
 */
export function pairHosts(a: readonly string[], b: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const same of [
    (x: string, y: string) => x === y,
    (x: string, y: string) => short(x) === short(y),
  ]) {
    for (const name of b) {
      const taken = new Set(pairs.values());
      const found = a.find((one) => same(one, name) && !taken.has(one));
      if (found !== undefined && !pairs.has(name)) pairs.set(name, found);
    }
  }
  const taken = new Set(pairs.values());
  const [restA, restB] = [a.filter((one) => !taken.has(one)), b.filter((one) => !pairs.has(one))];
  if (restA.length !== restB.length) return pairs;
  for (const [k, name] of restB.entries()) pairs.set(name, restA[k]);
  return pairs;
}
