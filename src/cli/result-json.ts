/** A run's result as the one JSON object that `sim run --json` prints: documented keys first. */
import type { RunResult } from '../sim/statistics.ts';

/** The keys that scripts rely on, in order. */
const FIRST_KEYS = [
  'model',
  'synch',
  'pes',
  'kps',
  'lps',
  'seed',
  'end',
  'wallSeconds',
  'eventRate',
  'eventsProcessed',
  'eventsRolledBack',
  'eventsAborted',
  'netEvents',
  'eventsPastEnd',
  'totalRollbacks',
  'primaryRollbacks',
  'secondaryRollbacks',
  'efficiency',
  'fossilCollects',
  'gvtComputations',
  'allReduces',
  'remoteSends',
  'remoteReceives',
  'eventTies',
  'stateDigest',
  'eventDigest',
  'recording',
] as const satisfies readonly (keyof RunResult)[];

/** Text of the object, with its last line end. Infinity (an adaptive window) becomes null. */
export function resultJson(result: RunResult): string {
  const first = Object.fromEntries(FIRST_KEYS.map((key) => [key, result[key]]));
  return `${JSON.stringify({ ...first, ...result }, null, 2)}\n`;
}
