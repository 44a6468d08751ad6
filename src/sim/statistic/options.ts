/** Options of all statistics with a confidence interval. */

/** Options of a statistic. */
export interface StatisticOptions {
  /**
   * Number of slices of the run for which sums are kept, even and at least 64; from them the result gets a mean without warm-up and a
   * confidence interval. 0 by default, without either: each slice takes 16 bytes in every LP.
   */
  readonly slices?: number;
}

export function expectSlices(what: string, { slices = 0, ...others }: StatisticOptions): number {
  for (const key of Object.keys(others))
    throw new RangeError(`${what}(): '${key}' is not an option; there is slices`);
  if (slices === 0 || (Number.isInteger(slices) && slices >= 64 && slices % 2 === 0)) return slices;
  throw new RangeError(
    `${what}({ slices: ${slices} }): must be an even number of at least 64, or 0 for none`,
  );
}
