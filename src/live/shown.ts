/** What a server shows: a recording, or a run that goes on. */
import type { OpenRecording } from '../query/index.ts';
import type { Facts } from './facts.ts';
import type { TableFacts } from './series/store.ts';
import type { EntityBins } from './series/table.ts';

/** Binned samples. The page's own store for live runs answers the same questions. */
export interface ServedSeries {
  tables(): readonly TableFacts[];
  /**
   * Bins of the sum of metrics `keys` of a table over [from, to) seconds, for each entity, or those named.
   * Null where there is no such table or metric.
   */
  series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
    entities?: readonly string[],
  ): Promise<readonly EntityBins[] | null>;
}

/** One state of one recording. When its data change there is another object: a WeakMap keyed by this is a cache. */
export interface Shown {
  /** Name in `?recording=`, unique on this server. */
  readonly id: string;
  /** Its folder or file; null for a run that is not recorded. */
  readonly path: string | null;
  readonly facts: Facts;
  /** Whether samples come as they are taken. */
  readonly live: boolean;
  /** Grows with each state. */
  readonly revision: number;
  readonly series: ServedSeries;
  /**
   * Its tables (docs/query.md), opened when first asked for. Of a run that goes on: what is on disk by now.
   * Statements of users go through `POST /api/query`, which bounds their time and rows.
   * @throws ApiError where there are none
   */
  sql(): Promise<OpenRecording>;
}
