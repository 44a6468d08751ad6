/** Single rollbacks of a window. Runs in the server. */
import { STEP, type Steps, sorted } from '../steps.ts';
import { isWithin } from './levels.ts';
import type { Cause, Rollbacks } from './rollbacks.ts';

export interface SingleRollback {
  readonly pe: number;
  readonly kp: number;
  readonly id: number;
  readonly cause: Cause;
  /** Seconds. */
  readonly t: number;
  readonly sourcePe: number;
  readonly sourceLp: number;
  readonly undone: number;
  /** Virtual time rolled back over; null where nobody knows. */
  readonly depth: number | null;
}

interface RollbackAsk {
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  /** Path of a PE or KP; '': all. */
  readonly within: string;
}

/** Those that undid most, in the order of time. */
export function* rollbacksIn(
  all: Rollbacks,
  { from, to, within }: RollbackAsk,
  most: number,
): Steps<{ readonly rollbacks: SingleRollback[]; readonly total: number }> {
  const [times, pes, kps] = [all.column('real_time'), all.column('pe_id'), all.column('kp_id')];
  const undone = all.column('events_undone');
  const rows: number[] = [];
  for (let row = 0; row < all.length; row++) {
    if (row % STEP === 0) yield STEP;
    if (times[row] < from || times[row] >= to) continue;
    if (within === '' || isWithin(`${pes[row]}/${kps[row]}`, within)) rows.push(row);
  }
  const total = rows.length;
  const worst =
    total > most ? yield* sorted(rows, (a, b) => undone[b] - undone[a] || a - b, most) : rows;
  const listed = yield* sorted(worst, (a, b) => times[a] - times[b] || a - b);
  const rollbacks = listed.map((row) => {
    const depth = all.column('depth')[row];
    return {
      pe: pes[row],
      kp: kps[row],
      id: all.column('rollback_id')[row],
      cause: all.cause(row),
      t: times[row],
      sourcePe: all.column('source_pe')[row],
      sourceLp: all.column('source_lp')[row],
      undone: undone[row],
      depth: Number.isFinite(depth) ? depth : null,
    };
  });
  return { rollbacks, total };
}
