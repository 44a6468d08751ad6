/** What all statistics with a confidence interval may be told. */

/** How a statistic is kept. */
export interface StatisticOptions {
  /**
   * Sums by so many slices of the run, an even number from 64 on, from which its result gets a mean without warm-up and a
   * confidence interval. 0, none, by default: they cost 16 bytes each in every LP.
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
