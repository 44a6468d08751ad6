/** The name that was probably meant. */

/** Levenshtein distance, in which two neighbours swapped count as one. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => {
    const row = new Array<number>(b.length + 1).fill(0);
    row[0] = i;
    return row;
  });
  for (let k = 0; k <= b.length; k++) rows[0][k] = k;
  for (let i = 1; i <= a.length; i++) {
    for (let k = 1; k <= b.length; k++) {
      const cost = a[i - 1] === b[k - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1][k] + 1, rows[i][k - 1] + 1, rows[i - 1][k - 1] + cost);
      const swapped = i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1];
      if (swapped) least = Math.min(least, rows[i - 2][k - 2] + 1);
      rows[i][k] = least;
    }
  }
  return rows[a.length][b.length];
}

/** The one of `names` nearest to `given`; null where none is near. */
export function nearest(given: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.max(given.length > 3 ? 2 : 1, Math.floor(given.length / 3)) + 1;
  for (const name of names) {
    // A name that begins with the given text is near, however much is missing.
    const d = given.length >= 2 && name.startsWith(given) ? 1 : distance(given, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

/** “; did you mean --lookahead?”, or nothing. */
export function didYouMean(given: string, names: readonly string[], prefix = ''): string {
  const name = nearest(given, names);
  return name === null ? '' : `; did you mean ${prefix}${name}?`;
}
