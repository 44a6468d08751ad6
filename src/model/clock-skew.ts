/** Largest difference between the clocks of scheduler and node by which a job's entry and its records are still matched. */
export const SKEW_SECONDS = 1200;
