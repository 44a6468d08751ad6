/** Opens recordings for queries. */
import { Worker } from 'node:worker_threads';
import type { LoadedRecording, ResultColumn } from './database.ts';
import { errorFrom } from './errors.ts';
import type { Suspect } from './part.ts';
import type { Reply, Request, WorkerTask } from './worker.ts';

/**
 * A value in a result. 64-bit integers are numbers where a number holds them exactly, bigints beyond; missing is null;
 * lists and structs hold values.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Value[]
  | { [key: string]: Value };
export type Row = Readonly<Record<string, Value>>;

export interface Rows {
  readonly columns: readonly ResultColumn[];
  /** Rows in blocks of at most a few thousand; a row has a value for each column. */
  readonly blocks: AsyncIterable<readonly (readonly Value[])[]>;
}

/** One or more recordings, open. */
export interface OpenRecording {
  /** Of its folder or file; of several, the first's schema. */
  readonly name: string;
  /** Of several, the schemas that hold their tables, in order; of one, its name. */
  readonly names: readonly string[];
  /** What readers could not use. */
  readonly suspects: readonly Suspect[];
  /**
   * All rows of a query.
   * @throws QueryError in one line
   */
  query<T extends object = Row>(sql: string): Promise<T[]>;
  /** The rows of a query, as they come. Leaving the loop ends the query. @throws QueryError */
  rows(sql: string): Promise<Rows>;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

class WorkerRecording implements OpenRecording {
  readonly names: readonly string[];
  readonly suspects: readonly Suspect[];
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #dead: Error | null = null;

  constructor(worker: Worker, recordings: readonly LoadedRecording[]) {
    this.#worker = worker;
    this.names = recordings.map(({ name }) => name);
    this.suspects = recordings.flatMap(({ suspects }) => suspects);
    worker.on('message', (reply: Reply) => this.#receive(reply));
    worker.on('error', (error) => this.#die(error));
    worker.on('exit', () => this.#die(new Error('the recording is closed')));
    // Whoever forgets to close it does not keep the process alive.
    worker.unref();
  }

  get name(): string {
    return this.names[0];
  }

  async query<T extends object = Row>(sql: string): Promise<T[]> {
    const { columns, blocks } = await this.rows(sql);
    const all: T[] = [];
    for await (const block of blocks) {
      for (const row of block) {
        all.push(Object.fromEntries(columns.map(({ name }, k) => [name, row[k]])) as T);
      }
    }
    return all;
  }

  async rows(sql: string): Promise<Rows> {
    const query = ++this.#last;
    const started = await this.#ask({ kind: 'start', query, sql });
    if (started.kind !== 'started') throw new Error(`unexpected reply: ${started.kind}`);
    return { columns: started.columns, blocks: this.#blocks(query) };
  }

  async *#blocks(query: number): AsyncGenerator<readonly (readonly Value[])[], void, undefined> {
    let ended = false;
    try {
      for (;;) {
        ended = true;
        const reply = await this.#ask({ kind: 'next', query });
        if (reply.kind !== 'rows' || reply.rows === null) return;
        ended = false;
        yield reply.rows.map((row) => row.map(plain));
      }
    } finally {
      if (!ended) this.#worker.postMessage({ kind: 'end', query } satisfies Request);
    }
  }

  async close(): Promise<void> {
    if (this.#dead !== null) return;
    this.#worker.ref();
    const gone = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage({ kind: 'close' } satisfies Request);
    await gone;
  }

  #ask(request: Extract<Request, { query: number }>): Promise<Reply> {
    if (this.#dead !== null) return Promise.reject(this.#dead);
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.query, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  #receive(reply: Reply): void {
    if (!('query' in reply)) return;
    const waiting = this.#waiting.get(reply.query);
    this.#waiting.delete(reply.query);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (reply.kind === 'error') waiting?.reject(errorFrom(reply.error));
    else waiting?.resolve(reply);
  }

  #die(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** 64-bit integers that a number holds exactly become numbers. */
export function plain(value: unknown): Value {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  }
  return value as Value;
}

/**
 * Opens a recording's folder, a folder of native files, or a file. Of several, each is a schema named as its folder, and
 * names without a schema mean the first's tables.
 * @throws InputError where a path cannot be read (file, place), MissingPieceError where DuckDB is not installed
 */
export function openRecording(path: string, ...more: readonly string[]): Promise<OpenRecording> {
  const task: WorkerTask = { paths: [path, ...more] };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.js', import.meta.url), {
      workerData: task,
      name: 'query',
    });
    worker.once('error', reject);
    worker.once('message', (reply: Reply) => {
      worker.off('error', reject);
      if (reply.kind === 'open') resolve(new WorkerRecording(worker, reply.recordings));
      else if (reply.kind === 'failed') reject(errorFrom(reply.error));
    });
  });
}
