/** A run that is going on: frames from the server go into a store in the page. */
import type { ServedFacts } from '../../src/live/api/facts-facts.ts';
import { LiveStore } from '../../src/live/series/live-store.ts';
import type { TableFacts } from '../../src/live/series/store.ts';
import type { EntityBins } from '../../src/live/series/table.ts';
import { Link } from './link.ts';
import { ApiSource, type Asking, type PageSource } from './source.ts';

/** Tables that no lane shows; views ask the server for them. */
const IGNORED = ['ross_kp', 'ross_lp', 'ross_model', 'ross_event', 'ross_rollback'];

export interface LiveEvents {
  facts(facts: ServedFacts): void;
  /** New samples are there. */
  samples(): void;
  connected(is: boolean): void;
}

export class LiveSource implements PageSource {
  readonly #api: ApiSource;
  readonly #link: Link;
  #live = new LiveStore((message) => console.warn(message));
  /** The run's zero, as text. */
  #zero = '';

  constructor(events: LiveEvents, recording = '') {
    this.#api = new ApiSource(recording);
    this.#link = new Link(
      { recording, without: IGNORED },
      {
        facts: (facts) => {
          this.#about(facts.zero);
          events.facts(facts);
        },
        message: ({ stream, frame, left }) => {
          if (this.#live.take(stream, frame, left)) events.samples();
        },
        connected: (is) => {
          if (is) this.#live.restart();
          events.connected(is);
        },
      },
    );
  }

  /** Frames that did not come, because this page was too slow. */
  get lost(): number {
    return this.#live.lost;
  }

  /** Ends the connection. */
  close(): void {
    this.#link.close();
  }

  async tables(): Promise<readonly TableFacts[]> {
    return this.#live.store.tables();
  }

  async series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]> {
    return this.#live.store.series(table, keys, from, to, bins) ?? [];
  }

  json<T>(route: string, query?: Asking): Promise<T> {
    return this.#api.json<T>(route, query);
  }

  bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    return this.#api.bytes(route, query);
  }

  /** Another run has another zero: what is here of the one before goes. */
  #about(zero: string): void {
    if (zero === this.#zero) return;
    if (this.#zero !== '') this.#live = new LiveStore((message) => console.warn(message));
    this.#zero = zero;
    this.#live.zero = Number(BigInt(zero) / 1000n) / 1e6;
  }
}
