/** The first difference in what two runs of a model report although they handled the same events: results, and printed lines. */
import { compareLines, type OutputLine } from './pe.ts';
import type { ModelResults } from './results.ts';

/** Names of the two runs. */
type Names = readonly [string, string];

type Leaf = number | string | undefined;

/** Every value of `results` under its path, such as `totals.served` or `rows.shops[3].load`. */
function leavesOf(results: ModelResults): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  for (const part of ['totals', 'maxima'] as const) {
    for (const [name, value] of Object.entries(results[part])) leaves.set(`${part}.${name}`, value);
  }
  for (const [name, bins] of Object.entries(results.counts)) {
    bins.forEach((weight, bin) => {
      leaves.set(`counts.${name}[${bin}]`, weight);
    });
  }
  for (const [name, rows] of Object.entries(results.rows)) {
    rows.forEach(({ lp, values }, k) => {
      leaves.set(`rows.${name}[${k}]`, `of LP ${lp}`);
      for (const [key, value] of Object.entries(values))
        leaves.set(`rows.${name}[${k}].${key}`, value);
    });
  }
  for (const [name, one] of Object.entries(results.statistics)) {
    const flat = (path: string, value: unknown): void => {
      if (typeof value === 'object' && value !== null)
        for (const [key, part] of Object.entries(value)) flat(`${path}.${key}`, part);
      else leaves.set(path, value === null ? 'null' : (value as Leaf));
    };
    flat(`statistics.${name}`, one);
  }
  return leaves;
}

/** The first value that differs; null if none does. Sums are exact, and so do not depend on where LPs are. */
export function resultsDifference(
  [nameA, nameB]: Names,
  a: ModelResults,
  b: ModelResults,
): string | null {
  const [left, right] = [leavesOf(a), leavesOf(b)];
  for (const path of new Set([...left.keys(), ...right.keys()])) {
    const [x, y] = [left.get(path), right.get(path)];
    if (Object.is(x, y) || x === y) continue;
    return `results ${path} is ${x ?? 'missing'} in ${nameA} and ${y ?? 'missing'} in ${nameB}`;
  }
  return null;
}

/** The first line that only one of them printed; null if there is none. Hooks print on each PE separately. */
export function outputDifference(
  [nameA, nameB]: Names,
  a: readonly OutputLine[],
  b: readonly OutputLine[],
): string | null {
  const [left, right] = [a, b].map((lines) =>
    lines
      .filter(({ lp }) => lp >= 0)
      .sort((x, y) => compareLines(x, y) || x.lp - y.lp)
      .map(({ time, lp, text }) => `LP ${lp} at ${time}: ${text}`),
  );
  for (let k = 0; k < Math.max(left.length, right.length); k++) {
    if (left[k] === right[k]) continue;
    const said = (line: string | undefined) => (line === undefined ? 'nothing' : `“${line}”`);
    return `line ${k + 1} of the output is ${said(left[k])} in ${nameA} and ${said(right[k])} in ${nameB}`;
  }
  return null;
}
