/**
 * Connects the simulator's phases and counts to regions and signals, although neither knows the other: the module that
 * marks regions in this thread offers marks, and an engine that starts in it uses them.
 */
import type { Hint } from './region-layout.ts';
import type { PhaseMarks } from './region-page.ts';

/** The phases of an engine, as regions: name and hint, in the order of their numbers. */
export const ENGINE_REGIONS: readonly (readonly [string, Hint])[] = [
  ['event processing', 'compute'],
  ['rollback', 'memory'],
  ['GVT', 'network'],
  ['fossil collection', 'memory'],
  ['MPI_Isend', 'network'],
  ['MPI_Irecv', 'network'],
  ['MPI_Test', 'network'],
  ['MPI_Iallreduce', 'network'],
];
export const MARK_EVENTS = 0;
export const MARK_ROLLBACK = 1;
export const MARK_GVT = 2;
export const MARK_FOSSILS = 3;
/** From this number on: calls of a run over MPI. */
export const MARK_MPI_SEND = 4;
export const MARK_MPI_RECEIVE = 5;
export const MARK_MPI_TEST = 6;
export const MARK_MPI_REDUCE = 7;

/** Counts that an engine passes on: the arguments of `reached` after the GVT. */
export const ENGINE_COUNTS = 5;

export interface EngineMarks extends PhaseMarks {
  /** A PE has reached a GVT; its counts so far. */
  reached(
    gvt: number,
    processed: number,
    rolledBack: number,
    committed: number,
    rollbacks: number,
    gvtComputations: number,
  ): void;
}

let offered: EngineMarks | null = null;

/** From now on engines of this thread mark ENGINE_REGIONS on `marks`. */
export function offerEngineMarks(marks: EngineMarks): void {
  offered = marks;
}

/** The marks offered in this thread; null if there are none. */
export function engineMarks(): EngineMarks | null {
  return offered;
}
