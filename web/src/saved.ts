/**
 * Pages saved as one file: they contain the answers that were given while all views were shown, by request. Such a page
 * needs no server and no network, and shows what was shown, nothing else.
 */

import { packBins, unpackBins } from '../../src/view/binary.ts';
import type { QueryAnswer } from '../../src/view/facts/query.ts';
import type { RecordingEntry } from '../../src/view/facts/served.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import type { EntityBins } from '../../src/view/series/table.ts';
import type { Clock } from './axis.ts';
import type { PageFacts } from './page.svelte.ts';
import type { Asking, PageSource } from './source.ts';
import type { ViewState } from './state.ts';

/** In the saved file: JSON in an element of this id. */
export const SAVED_ID = 'saved-page';

export interface SavedPage {
  /** When, for people. */
  readonly at: string;
  readonly facts: PageFacts;
  /** Whether it was a run that went on. */
  readonly wasLive: boolean;
  readonly recordings: readonly RecordingEntry[];
  readonly tables: readonly TableFacts[];
  readonly extent: readonly [number, number] | null;
  readonly clock: Clock | null;
  readonly state: ViewState;
  /** Answers by question; bytes in base 64. */
  readonly answers: Readonly<Record<string, unknown>>;
}

const seriesKey = (...asked: readonly unknown[]): string => `series ${JSON.stringify(asked)}`;

function routeKey(kind: string, route: string, query: Asking = {}): string {
  const asked = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${kind} ${route} ${JSON.stringify(asked)}`;
}

/** Bytes turned into text at a time: the arguments of one call. */
const PIECE = 0x8000;

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(text);
}

const bytesOf = (text: string): ArrayBuffer =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

/** Passes everything on and keeps the answers. */
export class KeepingSource implements PageSource {
  readonly answers: Record<string, unknown> = {};
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

  series(table: string, keys: readonly string[], from: number, to: number, bins: number) {
    return this.keep(
      seriesKey(table, keys, from, to, bins),
      () => this.from.series(table, keys, from, to, bins),
      (series) => (series.length === 0 ? '' : base64(packBins(from, to, bins, series))),
    );
  }

  json<T>(route: string, query?: Asking): Promise<T> {
    const ask = () => this.from.json<T>(route, query);
    return this.keep(routeKey('json', route, query), ask, (answer) => answer);
  }

  bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    const ask = () => this.from.bytes(route, query);
    return this.keep(routeKey('bytes', route, query), ask, (answer) =>
      base64(new Uint8Array(answer)),
    );
  }

  query(sql: string, limit: number): Promise<QueryAnswer> {
    const ask = () => this.from.query(sql, limit);
    return this.keep(routeKey('query', sql, { limit }), ask, (answer) => answer);
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
    const packed = this.answer(seriesKey(table, keys, from, to, bins)) as string;
    return packed === '' ? [] : unpackBins(bytesOf(packed)).series;
  }

  async json<T>(route: string, query?: Asking): Promise<T> {
    return this.answer(routeKey('json', route, query)) as T;
  }

  async bytes(route: string, query?: Asking): Promise<ArrayBuffer> {
    return bytesOf(this.answer(routeKey('bytes', route, query)) as string);
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
