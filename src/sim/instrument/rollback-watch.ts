/** What an optimistic engine reports to its instrumentation, except on the path of events that need no rollback. */
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import type { EventTracer, PeRecorder } from './pe-recorder.ts';
import { BY_ABORT, BY_CANCELBACK, BY_CANCELLATION, BY_STRAGGLER } from './rollback-log.ts';
import {
  type EventTally,
  T_ABORTED,
  T_RECEIVES,
  T_REMOTE,
  T_ROLLED_BACK,
  T_SENDS,
} from './tally.ts';

const { DEST, RECV } = layout;

export class RollbackWatch {
  private readonly pe: Pe;
  private readonly tally: EventTally | null;
  private readonly log: PeRecorder['rollbacks'];
  private readonly stragglers: EventTracer | null;
  /** PE and number of the rollback that cancelled each event that waits to be undone. */
  private readonly causes: number[] = [];
  private causePe = 0;
  private causeRollback = 0;

  constructor(pe: Pe) {
    this.pe = pe;
    this.tally = pe.tally;
    this.log = pe.instrument?.rollbacks ?? null;
    this.stragglers = pe.instrument?.stragglers ?? null;
  }

  /** The watch of `pe`; null if nothing is recorded that it would see. */
  static of(pe: Pe): RollbackWatch | null {
    const { instrument } = pe;
    const sees =
      pe.tally !== null || (instrument?.rollbacks ?? instrument?.stragglers ?? null) !== null;
    return sees ? new RollbackWatch(pe) : null;
  }

  private index(h: number): number {
    return this.pe.pool.I[(h << 1) + DEST];
  }

  /** Number of the current rollback; 0 if rollbacks are not recorded. */
  get rollback(): number {
    return this.log?.current ?? 0;
  }

  /** `kp`, whose newest event is at `newest`, is about to be rolled back to event `h`. */
  straggler(kp: number, h: number, newest: number): void {
    this.tally?.rolledBack(kp, false);
    this.stragglers?.record(h, this.index(h));
    this.log?.begin(BY_STRAGGLER, kp, h, newest, 0, 0);
  }

  /** As `straggler`, for the event cancelled last. */
  cancellation(kp: number, h: number, newest: number): void {
    this.tally?.rolledBack(kp, true);
    this.log?.begin(BY_CANCELLATION, kp, h, newest, this.causePe, this.causeRollback);
  }

  abort(kp: number, h: number): void {
    this.tally?.add(this.index(h), T_ABORTED);
    this.log?.begin(BY_ABORT, kp, h, this.pe.pool.F[h + RECV], 0, 0);
  }

  cancelback(kp: number, h: number): void {
    this.log?.begin(BY_CANCELBACK, kp, h, this.pe.pool.F[h + RECV], 0, 0);
  }

  /** An event of LP `index` has been undone. */
  undid(index: number): void {
    this.tally?.add(index, T_ROLLED_BACK);
    this.log?.undid();
  }

  /** The rollback is done. */
  end(): void {
    this.log?.end();
  }

  /** An event waits to be undone because of rollback `rollback` of `pe`. */
  push(pe: number, rollback: number): void {
    this.causes.push(pe, rollback);
  }

  /** Takes the newest waiting event, to which `cancellation` then refers. */
  pop(): void {
    this.causeRollback = this.causes.pop() as number;
    this.causePe = this.causes.pop() as number;
  }

  /** An anti-message has been sent for an event that LP `index` had sent. */
  tookBack(index: number): void {
    this.tally?.add(index, T_SENDS);
  }

  /** Event `h`, or an anti-message for it, has arrived from another PE. */
  received(h: number): void {
    this.tally?.add(this.index(h), T_RECEIVES);
  }

  /** Event `h`, sent by another PE, is committed. */
  committedRemote(h: number): void {
    this.tally?.add(this.index(h), T_REMOTE);
  }
}
