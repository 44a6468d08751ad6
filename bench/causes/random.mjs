// Parameters that follow from a seed and a name.

/** Draws of whole numbers, reals and one of several; the same for one seed and name. */
export function drawing(seed, name) {
  let state = seed | 0;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    real: (from, to) => Number((from + next() * (to - from)).toPrecision(3)),
    pick: (...all) => all[Math.floor(next() * all.length)],
  };
}
