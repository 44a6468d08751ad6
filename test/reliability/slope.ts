/** Whether a quantity that goes up and down stays where it is. */

export interface Sample {
  /** Seconds. */
  readonly at: number;
  readonly value: number;
}

/** The line through samples, by least squares: its mean, and its rise per second. */
export function slopeOf(samples: readonly Sample[]): { mean: number; perSecond: number } {
  const n = samples.length;
  const mean = samples.reduce((sum, { value }) => sum + value, 0) / n;
  const middle = samples.reduce((sum, { at }) => sum + at, 0) / n;
  let both = 0;
  let squares = 0;
  for (const { at, value } of samples) {
    both += (at - middle) * (value - mean);
    squares += (at - middle) ** 2;
  }
  return { mean, perSecond: squares === 0 ? 0 : both / squares };
}

/** Share of the mean by which the line rises over `seconds`. */
export function riseOver(samples: readonly Sample[], seconds: number): number {
  const { mean, perSecond } = slopeOf(samples);
  return (perSecond * seconds) / mean;
}
