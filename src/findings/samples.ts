/** What several rules ask of the simulator's samples. */
import type { Subject } from './finding.ts';

/**
 * A condition that keeps one mode's samples: each mode counts the same events again. `vt` only where there is no other:
 * it ends before the run does.
 */
export const oneMode = (table: string): string =>
  `mode = (SELECT mode FROM ${table} WHERE mode IN ('gvt', 'rt', 'vt') GROUP BY mode
  ORDER BY mode = 'vt', count(*) DESC, mode LIMIT 1)`;

/** Rolled back less than this share of the events handled: nothing to do. */
export const FINE = 0.1;
/** More than this: rollbacks cost more than parallelism gains on two PEs. */
export const BAD = 1 / 3;
/** Fewer events than this say nothing about a run. */
export const FEW = 1000;

export interface Totals {
  readonly pes: number;
  readonly processed: number;
  readonly undone: number;
  readonly seconds: number;
}

const TOTALS = `SELECT count(DISTINCT pe_id) AS pes, sum(events_processed) AS processed,
  sum(events_rolled_back) AS undone, max(real_time) AS seconds
FROM ross_pe WHERE ${oneMode('ross_pe')}`;

const NOTHING: Totals = { pes: 0, processed: 0, undone: 0, seconds: 0 };
const NEEDED = ['events_processed', 'events_rolled_back', 'real_time', 'mode'];

/** Of the whole run; nothing where PEs were not sampled. */
export async function totalsOf({ recording, has }: Subject): Promise<Totals> {
  if (!NEEDED.every((column) => has(`ross_pe.${column}`))) return NOTHING;
  const [totals] = await recording.query<Totals>(TOTALS);
  return totals.processed === null ? NOTHING : totals;
}

/** The share of the events handled that was undone. */
export const undoneShare = ({ processed, undone }: Totals): number =>
  undone / Math.max(1, processed);
