/** A run that is going on: frames from the server go into a store in the page. */
import { FrameDecoder } from '../../src/formats/frames/decode.ts';
import type { Facts } from '../../src/live/facts.ts';
import { SeriesStore, type TableFacts } from '../../src/live/series/store.ts';
import type { EntityBins } from '../../src/live/series/table.ts';
import type { Schema } from '../../src/model/metric.ts';
import { ApiSource, type Asking, type PageSource } from './source.ts';

/** Rows kept per entity. */
const MOST_ROWS = 50_000;
/** Bytes before a frame: number of its stream. */
const PREFIX = 8;
/** Milliseconds before another try to connect, doubled each time. */
const RETRY = 500;
const MOST_RETRY = 8000;

/** Tables that no lane shows; views ask the server for them. */
const IGNORED = ['ross_kp', 'ross_lp', 'ross_model', 'ross_event', 'ross_rollback'];

export interface LiveEvents {
  facts(facts: Facts): void;
  /** New samples are there. */
  samples(): void;
  connected(is: boolean): void;
}

export class LiveSource implements PageSource {
  readonly #api = new ApiSource();
  #store = new SeriesStore(MOST_ROWS);
  #decoders = new Map<number, FrameDecoder>();
  #zero = 0;
  #retry = RETRY;
  #ended = false;
  readonly #events: LiveEvents;

  constructor(events: LiveEvents) {
    this.#events = events;
    this.#connect();
  }

  /** Frames that did not come, because this page was too slow. */
  get lost(): number {
    let lost = 0;
    for (const decoder of this.#decoders.values()) lost += decoder.lost;
    return lost;
  }

  async tables(): Promise<readonly TableFacts[]> {
    return this.#store.tables();
  }

  async series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]> {
    return this.#store.series(table, keys, from, to, bins) ?? [];
  }

  json<T>(route: string, query?: Asking): Promise<T> {
    return this.#api.json<T>(route, query);
  }

  bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    return this.#api.bytes(route, query);
  }

  #connect(): void {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      // The server sends the past anew.
      this.#store = new SeriesStore(MOST_ROWS);
      this.#decoders = new Map();
      this.#retry = RETRY;
      this.#events.connected(true);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') this.#said(data);
      else this.#frame(data as ArrayBuffer);
    };
    socket.onclose = () => {
      this.#events.connected(false);
      if (this.#ended) return;
      setTimeout(() => this.#connect(), this.#retry);
      this.#retry = Math.min(MOST_RETRY, 2 * this.#retry);
    };
  }

  #said(text: string): void {
    const { kind, facts } = JSON.parse(text) as { kind: string; facts: Facts };
    if (kind !== 'facts') return;
    this.#zero = Number(BigInt(facts.zero) / 1000n) / 1e6;
    this.#ended = facts.state !== 'running';
    this.#events.facts(facts);
  }

  #frame(data: ArrayBuffer): void {
    const stream = new DataView(data).getUint32(0, true);
    let decoder = this.#decoders.get(stream);
    if (decoder === undefined) {
      const wanted = ({ name }: Schema) => !IGNORED.includes(name);
      decoder = new FrameDecoder({ wanted, onDamage: (error) => console.warn(error.message) });
      this.#decoders.set(stream, decoder);
    }
    let more = false;
    for (const batch of decoder.push(new Uint8Array(data, PREFIX))) {
      // Records of raw stats files have wall-clock times.
      const isWall = batch.schema.metrics.some(({ key }) => key === 'time');
      this.#store.add(batch, isWall ? this.#zero : 0);
      more = true;
    }
    if (more) this.#events.samples();
  }
}
