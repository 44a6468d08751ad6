/** Where the page's samples come from: the server's API for a recording, its live stream for a run that is going on. */

import { splitParts, unpackBins } from '../../src/view/binary.ts';
import type { QueryAnswer } from '../../src/view/facts/query.ts';
import type { ServedFacts } from '../../src/view/facts/served.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import type { EntityBins } from '../../src/view/series/table.ts';

/** Parameters of a route; undefined ones are left out. */
export type Asking = Readonly<Record<string, string | number | boolean | undefined>>;

export interface PageSource {
  tables(): Promise<readonly TableFacts[]>;
  /** Bins of the sum of metrics; none where the table or a metric is not there. */
  series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]>;
  /** The answer of `/api/ROUTE`. @throws Error with the server's words */
  json<T>(route: string, query?: Asking): Promise<T>;
  /** The same as bytes: asks for application/octet-stream. */
  bytes(route: string, query?: Asking): Promise<ArrayBuffer>;
  /** At most `limit` rows of a statement. @throws Error with the reason if it is not valid */
  query(sql: string, limit: number): Promise<QueryAnswer>;
}

/** A route did not answer, or with an error. The message is for the user. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  /** HTTP status; 0 where the server did not answer. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

async function wordsOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error?: string }).error ?? text;
  } catch {
    return text;
  }
}

interface SumWindow {
  readonly from: number;
  readonly to: number;
  readonly bins: number;
}

/** The requests of all charts within one turn of the page are sent as one, because each request has a fixed cost. */
class Sums {
  private readonly ask: (asked: Asking) => Promise<ArrayBuffer>;
  /** Per window the sums asked for in this turn, and their answers in that order. */
  private readonly waiting = new Map<string, { sums: string[]; answers: Promise<ArrayBuffer[]> }>();

  constructor(ask: (asked: Asking) => Promise<ArrayBuffer>) {
    this.ask = ask;
  }

  /** @param sum `TABLE:METRIC,METRIC` */
  async of(sum: string, window: SumWindow): Promise<readonly EntityBins[]> {
    const key = `${window.from} ${window.to} ${window.bins}`;
    let together = this.waiting.get(key);
    if (together === undefined) {
      const sums: string[] = [];
      together = { sums, answers: this.request(key, sums, window) };
      this.waiting.set(key, together);
    }
    const known = together.sums.indexOf(sum);
    const part = known < 0 ? together.sums.push(sum) - 1 : known;
    return unpackBins((await together.answers)[part]).series;
  }

  private async request(key: string, sums: readonly string[], window: SumWindow) {
    // What else is asked for in this turn comes along.
    await new Promise((resolve) => setTimeout(resolve));
    this.waiting.delete(key);
    return splitParts(await this.ask({ sums: sums.join(';'), ...window }));
  }
}

export class ApiSource implements PageSource {
  private _tables: Promise<readonly TableFacts[]> | null = null;
  private readonly recording: string;
  private readonly sums = new Sums((asked) => this.bytes('series/several', asked));

  /** `recording`: id of one of several; '' for the only, or first. */
  constructor(recording = '') {
    this.recording = recording;
  }

  /** Also that its tables have changed. */
  forget(): void {
    this._tables = null;
  }

  tables(): Promise<readonly TableFacts[]> {
    this._tables ??= this.json<readonly TableFacts[]>('tables');
    this._tables.catch(() => this.forget());
    return this._tables;
  }

  async series(table: string, keys: readonly string[], from: number, to: number, bins: number) {
    const tables = await this.tables();
    const facts = tables.find(({ name }) => name === table);
    const there = keys.every((key) => facts?.metrics.some((metric) => metric.key === key));
    if (facts === undefined || !there) return [];
    return this.sums.of(`${table}:${keys.join(',')}`, { from, to, bins });
  }

  async json<T>(route: string, query: Asking = {}): Promise<T> {
    return (await this.ask(route, query, 'application/json')).json() as Promise<T>;
  }

  async bytes(route: string, query: Asking = {}): Promise<ArrayBuffer> {
    return (await this.ask(route, query, 'application/octet-stream')).arrayBuffer();
  }

  async query(sql: string, limit: number): Promise<QueryAnswer> {
    const body = JSON.stringify({ sql, limit });
    const response = await this.ask('query', {}, 'application/json', body);
    return response.json() as Promise<QueryAnswer>;
  }

  private async ask(
    route: string,
    query: Asking,
    accept: string,
    body?: string,
  ): Promise<Response> {
    const asked = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) asked.set(key, String(value));
    }
    if (this.recording !== '' && !asked.has('recording')) {
      asked.set('recording', this.recording);
    }
    const ending = asked.size > 0 ? `?${asked}` : '';
    let response: Response;
    try {
      response = await fetch(`/api/${route}${ending}`, {
        headers: {
          Accept: accept,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { method: 'POST', body }),
      });
    } catch {
      throw new AnswerError('The server does not answer: it was stopped or cannot be reached.', 0);
    }
    if (!response.ok) throw new AnswerError(await wordsOf(response), response.status);
    return response;
  }
}

export const fetchFacts = (recording = ''): Promise<ServedFacts> =>
  new ApiSource(recording).json<ServedFacts>('facts');
