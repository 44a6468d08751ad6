/** What several rules ask of the simulator's samples. */
import { evaluate, oneMode, ROLLED_BACK_SHARE, type SumOf } from '../model/measures/index.ts';
import type { Subject } from './finding.ts';

export { oneMode };

/** Where no setting invites it, rolled back less than this share of the events handled, or of the time: nothing to do. */
export const FINE = 0.2;
/** Where a setting invites it. */
export const INVITED = 0.1;
/** Why so. */
export const FINE_SOURCE =
  'ours: the window that adapts leaves up to a tenth, and a run begins before it has adapted';
/** More than this: rollbacks cost more than parallelism gains on two PEs. */
export const BAD = 1 / 3;
/** Fewer events than this say nothing about a run. */
export const FEW = 1000;

/** Tables that count what PEs did, best first: records of 2017 with KPs and LPs count events with the LPs alone. */
export const COUNTING = ['ross_pe', 'ross_lp', 'ross_kp'] as const;

/** The table that has these columns, and its samples told apart by mode; null where none has. */
export const countedIn = (
  has: Subject['has'],
  ...columns: readonly string[]
): (typeof COUNTING)[number] | null =>
  COUNTING.find((table) => [...columns, 'mode'].every((column) => has(`${table}.${column}`))) ??
  null;

/**
 * Length of a run by its samples, s. Real times count from the run's zero; those of ROSS's own files from the start of the
 * machine's clock, so that only differences count.
 */
export const SECONDS = `CASE WHEN 2 * min(real_time) > max(real_time)
  THEN nullif(max(real_time) - min(real_time), 0) ELSE max(real_time) END`;

/** GVTs by `ross_pe.num_gvts`: a total, but in records of 2017 a change. */
export async function gvtsIn({ recording }: Subject): Promise<string> {
  const [metric] = await recording.query<{ form: string }>(
    "SELECT form FROM metrics WHERE table_name = 'ross_pe' AND column_name = 'num_gvts'",
  );
  return metric?.form === 'change' ? 'sum(num_gvts)' : 'max(num_gvts)';
}

/** From this share of the PEs' time on, GVTs cost much. */
const GVT_COSTS = 0.1;

/** The share of the PEs' time that GVTs take; null where it was not measured, or by a clock that counts cycles. */
async function gvtShare({ recording, has }: Subject): Promise<number | null> {
  if (!['gvt_time', 'real_time', 'mode'].every((column) => has(`ross_pe.${column}`))) return null;
  const [{ share }] = await recording.query<{ share: number | null }>(
    `SELECT sum(spent) / sum(seconds) AS share FROM (SELECT sum(gvt_time) AS spent, ${SECONDS} AS seconds
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id)`,
  );
  return share === null || share > 1 ? null : share;
}

/** Events of --batch × --gvt-interval from which on down GVTs were asked for very often. */
export const TURNED_DOWN_EVENTS = 16;

/**
 * How to run less far ahead. A smaller --batch or --gvt-interval costs more GVTs: not where they cost much already, or were
 * asked for that often, as that is what another rule says.
 */
export async function lessAhead(subject: Subject): Promise<string> {
  const facts = await factsOf(subject);
  if (facts !== null && facts.batch * facts.gvt_interval <= TURNED_DOWN_EVENTS) {
    return '--max-opt-lookahead (--batch and --gvt-interval are small already)';
  }
  const costs = ((await gvtShare(subject)) ?? 0) >= GVT_COSTS;
  return costs
    ? '--max-opt-lookahead (GVTs cost much already)'
    : 'a smaller --batch or --gvt-interval, or --max-opt-lookahead';
}

/** Synchronisers that undo events on purpose, as a check: that is no loss. */
const PROVING = new Set(['rollback-check', 'optimistic-debug']);

/** Whether the run was made to prove that events can be undone. */
export const provesRollback = async (subject: Subject): Promise<boolean> =>
  PROVING.has((await factsOf(subject))?.synchroniser ?? '');

export interface Totals {
  readonly processed: number;
  readonly undone: number;
}

const NOTHING: Totals = { processed: 0, undone: 0 };

/** Of the whole run; nothing where nobody counted. */
export async function totalsOf({ recording, has }: Subject): Promise<Totals> {
  const table = countedIn(has, 'events_processed', 'events_rolled_back');
  if (table === null) return NOTHING;
  const [totals] = await recording.query<Totals>(
    `SELECT sum(events_processed) AS processed, sum(events_rolled_back) AS undone
FROM ${table} WHERE ${oneMode(table)}`,
  );
  return totals.processed === null ? NOTHING : totals;
}

/** The share of the events handled that was undone; 0 where none was handled: nothing was lost. */
export function undoneShare({ processed, undone }: Totals): number {
  const sums: SumOf = (key) => (key === 'events_processed' ? processed : undone);
  return (evaluate(ROLLED_BACK_SHARE, sums, null) ?? 0) / 100;
}

/** How rollbacks show: what makes PEs roll back explains these. */
export const ROLLBACK_SIGNS = [
  ...['efficiency', 'secondary-rollbacks', 'rollback-chains', 'rollback-culprits'],
];

/** The run's settings and what is known of it at its end; NaN never: null where it is missing. */
export interface RunFacts {
  readonly synchroniser: string;
  readonly pes: number;
  readonly cpus: number;
  readonly lps: number;
  readonly nkp: number;
  readonly batch: number;
  readonly gvt_interval: number;
  readonly lookahead: number;
  readonly max_opt_lookahead: number | null;
  readonly max_memory: number;
  readonly wall: number;
  readonly gvts: number;
  readonly least_delay: number | null;
}

/** Null where nobody noted it, or several runs are looked at. */
export async function factsOf({ recording, has }: Subject): Promise<RunFacts | null> {
  if (!has('sim_run.batch')) return null;
  const rows = await recording.query<RunFacts>('SELECT * FROM sim_run');
  return rows.length === 1 ? rows[0] : null;
}
