/**
 * Pages saved as one file: they contain the answers that were given while all views were shown, by request. Such a page
 * needs no server and no network, and shows what was shown, nothing else; of views that can be zoomed into (`Page.zooms`) also
 * parts of that, from finer bins.
 */

import { packBins, unpackBins } from '../../src/view/binary.ts';
import type { QueryAnswer } from '../../src/view/facts/query.ts';
import type { RecordingEntry, ServedFacts } from '../../src/view/facts/served.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import type { EntityBins } from '../../src/view/series/table.ts';
import type { Clock } from './axis.ts';
import { type Binned, rebinned } from './rebin.ts';
import type { Asking, PageSource } from './source.ts';
import type { ViewState } from './state.ts';

/** In the saved file: JSON in an element of this id. */
export const SAVED_ID = 'saved-page';

export interface SavedPage {
  /** When, for people. */
  readonly at: string;
  readonly facts: ServedFacts;
  /** Whether it was a run that went on. */
  readonly wasLive: boolean;
  readonly recordings: readonly RecordingEntry[];
  readonly tables: readonly TableFacts[];
  readonly extent: readonly [number, number] | null;
  readonly clock: Clock | null;
  readonly state: ViewState;
  /** Answers by question; bytes in base 64. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Finer bins by what they are of; bytes in base 64. */
  readonly fine: Readonly<Record<string, readonly string[]>>;
}

/** Finer bins for each that was shown, at most; in one request; and in all entities of one. */
const FINER = 16;
const MOST_BINS = 4096;
const MOST_CELLS = 1 << 18;

const finer = (bins: number, entities: number): number =>
  bins * Math.floor(Math.min(FINER, MOST_BINS / bins, MOST_CELLS / (bins * Math.max(1, entities))));

/** Route of series as bytes. */
const SERIES = 'series';

const seriesKey = (...asked: readonly unknown[]): string => `series ${JSON.stringify(asked)}`;

function routeKey(kind: string, route: string, query: Asking = {}): string {
  const asked = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${kind} ${route} ${JSON.stringify(asked)}`;
}

/** Bytes turned into text at a time: the arguments of one call. */
const PIECE_BYTES = 0x8000;

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  }
  return btoa(text);
}

/** Series as bytes, of whatever window. */
const wholeKey = ({ from: _from, to: _to, bins: _bins, ...query }: Asking): string =>
  routeKey('bytes', SERIES, query);

const bytesOf = (text: string): ArrayBuffer =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

/** Passes everything on and keeps the answers. */
export class KeepingSource implements PageSource {
  readonly answers: Record<string, unknown> = {};
  readonly fine: Record<string, string[]> = {};
  /** Whether finer bins are asked for, too. */
  zooms = false;
  /** Requests that are under way. */
  waiting = 0;
  /** How many there have been. */
  asked = 0;
  private readonly from: PageSource;

  constructor(from: PageSource) {
    this.from = from;
  }

  tables() {
    return this.from.tables();
  }

  async series(table: string, keys: readonly string[], from: number, to: number, bins: number) {
    const ask = (count: number) => this.from.series(table, keys, from, to, count);
    const packed = (series: readonly EntityBins[], count: number) =>
      series.length === 0 ? '' : base64(packBins(from, to, count, series));
    const answer = await this.keep(
      seriesKey(table, keys, from, to, bins),
      () => ask(bins),
      (series) => packed(series, bins),
    );
    const count = finer(bins, answer.length);
    if (this.zooms && count > bins && answer.length > 0) {
      await this.keepFine(seriesKey(table, keys), async () => packed(await ask(count), count));
    }
    return answer;
  }

  json<T>(route: string, query?: Asking): Promise<T> {
    const ask = () => this.from.json<T>(route, query);
    return this.keep(routeKey('json', route, query), ask, (answer) => answer);
  }

  async bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    const text = (answer: ArrayBuffer) => base64(new Uint8Array(answer));
    const ask = () => this.from.bytes(route, query);
    const answer = await this.keep(routeKey('bytes', route, query), ask, text);
    if (this.zooms && route === SERIES && query !== undefined) {
      // A copy: reading turns the bytes over on machines with the other order.
      const { head } = unpackBins(answer.slice(0));
      const bins = finer(head.bins, head.entities.length);
      if (bins > head.bins && head.entities.length > 0) {
        await this.keepFine(wholeKey(query), async () =>
          text(await this.from.bytes(route, { ...query, bins })),
        );
      }
    }
    return answer;
  }

  query(sql: string, limit: number): Promise<QueryAnswer> {
    const ask = () => this.from.query(sql, limit);
    return this.keep(routeKey('query', sql, { limit }), ask, (answer) => answer);
  }

  /** What was shown is shown although finer bins are refused. */
  private async keepFine(key: string, ask: () => Promise<string>): Promise<void> {
    this.waiting++;
    try {
      const packed = await ask();
      const known = this.fine[key] ?? [];
      if (!known.includes(packed)) this.fine[key] = [...known, packed];
    } catch {
      // It can be zoomed into by what is shown.
    } finally {
      this.waiting--;
    }
  }

  private async keep<T>(
    key: string,
    ask: () => Promise<T>,
    text: (answer: T) => unknown,
  ): Promise<T> {
    this.waiting++;
    this.asked++;
    try {
      const answer = await ask();
      this.answers[key] = text(answer);
      return answer;
    } finally {
      this.waiting--;
    }
  }
}

/** Answers from a saved page. */
export class SavedSource implements PageSource {
  private readonly page: SavedPage;

  constructor(page: SavedPage) {
    this.page = page;
  }

  async tables() {
    return this.page.tables;
  }

  async series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]> {
    const known = seriesKey(table, keys, from, to, bins);
    const part =
      known in this.page.answers ? null : this.part(seriesKey(table, keys), from, to, bins);
    if (part !== null) return part;
    const packed = this.answer(known) as string;
    return packed === '' ? [] : unpackBins(bytesOf(packed)).series;
  }

  async json<T>(route: string, query?: Asking): Promise<T> {
    return this.answer(routeKey('json', route, query)) as T;
  }

  async bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    const known = routeKey('bytes', route, query);
    if (route === SERIES && query !== undefined && !(known in this.page.answers)) {
      const [from, to, bins] = [query.from, query.to, query.bins].map(Number);
      const part = this.part(wholeKey(query), from, to, bins);
      if (part !== null) return packBins(from, to, bins, part).buffer;
    }
    return bytesOf(this.answer(known) as string);
  }

  /** Bins of a window within what was saved; null where nothing of that was. */
  private part(key: string, from: number, to: number, bins: number): EntityBins[] | null {
    let best: Binned | null = null;
    for (const packed of this.page.fine[key] ?? []) {
      const { head, series } = unpackBins(bytesOf(packed));
      const isThere = Math.min(to, head.to) > Math.max(from, head.from);
      const isFiner = best === null || head.to - head.from < best.to - best.from;
      if (isThere && isFiner) best = { from: head.from, to: head.to, series };
    }
    return best === null ? null : rebinned(best, from, to, bins);
  }

  async query(sql: string, limit: number): Promise<QueryAnswer> {
    return this.answer(routeKey('query', sql, { limit })) as QueryAnswer;
  }

  private answer(key: string): unknown {
    if (!(key in this.page.answers)) {
      throw new Error(
        'Not in this saved page, which contains only what was shown when it was saved.',
      );
    }
    return this.page.answers[key];
  }
}

/** The saved page in this document; null where it is served. */
export function savedPage(): SavedPage | null {
  const text = document.getElementById(SAVED_ID)?.textContent;
  return text ? (JSON.parse(text) as SavedPage) : null;
}
