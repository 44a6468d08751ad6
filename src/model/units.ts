/** Factors of units; a name says both units. MB and GB are 10⁶ and 10⁹ bytes, so no constant here has these names. */

export const KIB = 1024;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 3600;
export const DAY_SECONDS = 86_400;
export const DAY_MS = 1000 * DAY_SECONDS;
export const SECOND_NS = 1e9;

export const PER_CENT = 100;
