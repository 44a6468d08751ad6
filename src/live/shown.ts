/** What a server shows: a recording, or a run that goes on. */
import type { OpenRecording } from '../query/index.ts';
import type { PageFacts } from '../view/facts/run.ts';
import type { SeriesStore } from '../view/series/store.ts';
import type { Rollbacks } from '../view/simulation/rollbacks.ts';

/** One state of one recording. When its data change there is another object: a WeakMap keyed by this is a cache. */
export interface Shown {
  /** Name in `?recording=`, unique on this server. */
  readonly id: string;
  /** Its folder or file; null for a run that is not recorded. */
  readonly path: string | null;
  readonly facts: PageFacts;
  /** Whether samples come as they are taken. */
  readonly live: boolean;
  /** Grows with each state. */
  readonly revision: number;
  /** Whether its files were removed: what was read before is still there. */
  readonly gone: boolean;
  /** Its samples; of a run that goes on the newest, as far as there is room. */
  readonly store: SeriesStore;
  /** Single rollbacks of a run that goes on, the newest; null for one whose files have them all. */
  readonly rollbacks: (() => Rollbacks) | null;
  /**
   * Its tables (docs/query.md), opened when first asked for. Of a run that goes on: what is on disk by now.
   * Statements of users go through `POST /api/query`, which bounds their time and rows.
   * @throws ApiError where there are none
   */
  sql(): Promise<OpenRecording>;
  /** The whole that this is one user's part of; not there for those who may see everything. */
  readonly of?: Shown;
}
