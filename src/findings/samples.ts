/** Queries on the simulator's samples that several rules share. */
import { evaluate, oneMode, ROLLED_BACK_SHARE, type SumOf } from '../model/measures/index.ts';
import type { Subject } from './finding.ts';

export { oneMode };

/** If no setting invites rollbacks and less than this share of the handled events, or of the time, was lost to them, there is nothing to do. */
export const FINE = 0.2;
/** The same threshold if a setting invites rollbacks. */
export const INVITED = 0.1;
/** The reason for this threshold. */
export const FINE_SOURCE =
  'ours: the window that adapts leaves up to a tenth, and a run begins before it has adapted';
/** Beyond this, rollbacks cost more than parallelism gains on two PEs. */
export const BAD = 1 / 3;
/** A run with fewer events is too short to judge. */
export const FEW = 1000;

/** Tables that count what PEs did, the best first: records of 2017 with KPs and LPs count events only for LPs. */
export const COUNTING = ['ross_pe', 'ross_lp', 'ross_kp'] as const;

/** The table that has these columns, with samples of one mode only; null if none has. */
export const countedIn = (
  has: Subject['has'],
  ...columns: readonly string[]
): (typeof COUNTING)[number] | null =>
  COUNTING.find((table) => [...columns, 'mode'].every((column) => has(`${table}.${column}`))) ??
  null;

/**
 * Length of a run from its samples, in s. Real times count from the run's start; those in ROSS's own files from the start of the
 * machine's clock, so that only differences can be used.
 */
export const SECONDS = `CASE WHEN 2 * min(real_time) > max(real_time)
  THEN nullif(max(real_time) - min(real_time), 0) ELSE max(real_time) END`;

/** GVTs from `ross_pe.num_gvts`: a total, except in records of 2017, where it is a change. */
export async function gvtsIn({ recording }: Subject): Promise<string> {
  const [metric] = await recording.query<{ form: string }>(
    "SELECT form FROM metrics WHERE table_name = 'ross_pe' AND column_name = 'num_gvts'",
  );
  return metric?.form === 'change' ? 'sum(num_gvts)' : 'max(num_gvts)';
}

/** From this share of the PEs' time on, GVTs are expensive. */
const GVT_COSTS = 0.1;

/** The share of the PEs' time that GVTs take; null if it was not measured, or by a clock that counts cycles. */
async function gvtShare({ recording, has }: Subject): Promise<number | null> {
  if (!['gvt_time', 'real_time', 'mode'].every((column) => has(`ross_pe.${column}`))) return null;
  const [{ share }] = await recording.query<{ share: number | null }>(
    `SELECT sum(spent) / sum(seconds) AS share FROM (SELECT sum(gvt_time) AS spent, ${SECONDS} AS seconds
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id)`,
  );
  return share === null || share > 1 ? null : share;
}

/** If --batch × --gvt-interval is at most this many events, GVTs were requested very often. */
export const TURNED_DOWN_EVENTS = 16;

/**
 * Advice for running less far ahead. A smaller --batch or --gvt-interval causes more GVTs: it is not advised where they are expensive
 * already, or were requested that often, because then another rule advises the opposite.
 */
export async function lessAhead(subject: Subject): Promise<string> {
  const facts = await runFactsOf(subject);
  if (facts !== null && facts.batch * facts.gvt_interval <= TURNED_DOWN_EVENTS) {
    return '--max-opt-lookahead (--batch and --gvt-interval are small already)';
  }
  const costs = ((await gvtShare(subject)) ?? 0) >= GVT_COSTS;
  return costs
    ? '--max-opt-lookahead (GVTs cost much already)'
    : 'a smaller --batch or --gvt-interval, or --max-opt-lookahead';
}

/** Synchronisers that undo events on purpose, to check models: these rollbacks are no loss. */
const PROVING = new Set(['rollback-check', 'optimistic-debug']);

/** Whether the run's purpose was to check that events can be undone. */
export const provesRollback = async (subject: Subject): Promise<boolean> =>
  PROVING.has((await runFactsOf(subject))?.synchroniser ?? '');

export interface Totals {
  readonly processed: number;
  readonly undone: number;
}

const NOTHING: Totals = { processed: 0, undone: 0 };

/** Totals of the whole run; empty if nothing was counted. */
export async function totalsOf({ recording, has }: Subject): Promise<Totals> {
  const table = countedIn(has, 'events_processed', 'events_rolled_back');
  if (table === null) return NOTHING;
  const [totals] = await recording.query<Totals>(
    `SELECT sum(events_processed) AS processed, sum(events_rolled_back) AS undone
FROM ${table} WHERE ${oneMode(table)}`,
  );
  return totals.processed === null ? NOTHING : totals;
}

/** The share of the handled events that was undone; 0 if none was handled, since nothing was lost. */
export function undoneShare({ processed, undone }: Totals): number {
  const sums: SumOf = (key) => (key === 'events_processed' ? processed : undone);
  return (evaluate(ROLLED_BACK_SHARE, sums, null) ?? 0) / 100;
}

/** Undoing events to free memory, by PE. */
export const CANCELBACKS = `SELECT pe_id, count(*) AS rollbacks, sum(events_undone) AS undone, min(t) AS "from", max(t) AS "to"
FROM ross_rollback WHERE cause = 'cancelback' GROUP BY pe_id ORDER BY undone DESC, pe_id`;

/** The rows of `CANCELBACKS`, and their events; none if the rollbacks were not recorded. */
export async function cancelbacksOf({ recording, has }: Subject): Promise<{
  readonly rows: readonly { readonly undone: number }[];
  readonly undone: number;
}> {
  const rows = has('ross_rollback.cause')
    ? await recording.query<{ undone: number }>(CANCELBACKS)
    : [];
  return { rows, undone: rows.reduce((sum, row) => sum + row.undone, 0) };
}

/** Rules about effects of rollbacks: a cause of rollbacks explains their findings. */
export const ROLLBACK_SIGNS = [
  ...['efficiency', 'secondary-rollbacks', 'rollback-chains', 'rollback-culprits'],
];

/** The run's settings and the facts known at its end. A missing value is null, never NaN. */
export interface KnownRun {
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

/** Null if they were not recorded, or if there are several runs. */
export async function runFactsOf({ recording, has }: Subject): Promise<KnownRun | null> {
  if (!has('sim_run.batch')) return null;
  const rows = await recording.query<KnownRun>('SELECT * FROM sim_run');
  return rows.length === 1 ? rows[0] : null;
}
