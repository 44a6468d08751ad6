/** A run that is going on: frames from the server go into a store in the page. */

import type { QueryAnswer } from '../../src/view/facts/query.ts';
import type { Message } from '../../src/view/message.ts';
import { LiveStore, NOT_DRAWN } from '../../src/view/series/live-store.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import type { EntityBins } from '../../src/view/series/table.ts';
import { ApiSource, type Asking, type PageSource } from './source.ts';

/** Tables whose rows are too many to be sent to a page; views ask the server for them. */
export const IGNORED = ['ross_lp', ...NOT_DRAWN];

export class LiveSource implements PageSource {
  private readonly api: ApiSource;
  private live = new LiveStore();
  /** What was asked for since the last samples came: charts ask for the same. */
  private readonly _series = new Map<string, readonly EntityBins[]>();
  /** The run's zero, as text. */
  private zero = '';

  constructor(recording = '') {
    this.api = new ApiSource(recording);
  }

  /** Frames that did not come, because this page was too slow. */
  get lost(): number {
    return this.live.lost;
  }

  /** Everything received, for views that draw more than series. */
  get kept(): LiveStore {
    return this.live;
  }

  /**
   * Another zero, of another run, or of this one as it begins: samples that are here count from the one before, and go.
   * Streams that have begun go on.
   */
  about(zero: string): void {
    if (zero === this.zero) return;
    if (this.zero !== '') this.live = this.live.successor();
    this._series.clear();
    this.zero = zero;
    this.live.zero = Number(BigInt(zero) / 1000n) / 1e6;
  }

  /** A connection begins: the past comes first. */
  restart(): void {
    this.live.restart();
  }

  /** Returns whether there are new samples. */
  take({ stream, frame, left }: Message): boolean {
    this._series.clear();
    return this.live.take(stream, frame, left);
  }

  async tables(): Promise<readonly TableFacts[]> {
    return this.live.store.tables();
  }

  async series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]> {
    const key = [table, keys, from, to, bins].join(' ');
    let series = this._series.get(key);
    if (series === undefined) {
      series = this.live.store.series(table, keys, from, to, bins) ?? [];
      this._series.set(key, series);
    }
    return series;
  }

  json<T>(route: string, query?: Asking): Promise<T> {
    return this.api.json<T>(route, query);
  }

  bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    return this.api.bytes(route, query);
  }

  query(sql: string, limit: number): Promise<QueryAnswer> {
    return this.api.query(sql, limit);
  }
}
