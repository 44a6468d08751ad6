/** Opens recordings for queries. */
import { Worker } from 'node:worker_threads';
import { endAtExit, endFlag } from './at-exit.ts';
import { objectsOf, rowsOf } from './batch-rows.ts';
import { defaultCacheFolder } from './cache-folder.ts';
import type { ColumnData } from './column-batches.ts';
import type { ResultColumn } from './database.ts';
import { errorFrom } from './errors.ts';
import type { Suspect } from './part.ts';
import { type KnownTables, selectOf, type TableOptions, type TypedTable } from './typed-table.ts';
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
  /** Rows in blocks of some ten thousand; a row has a value for each column. */
  readonly blocks: AsyncIterable<readonly (readonly Value[])[]>;
}

/** Rows as columns. */
export interface ColumnBatch {
  readonly rows: number;
  /** By column of the result. */
  readonly columns: readonly ColumnData[];
  /** By column: 1 where a row's value is missing; null where none is. */
  readonly missing: readonly (Uint8Array | null)[];
}

export interface ColumnResult {
  readonly columns: readonly ResultColumn[];
  /** Some ten thousand rows at a time. */
  readonly batches: AsyncIterable<ColumnBatch>;
}

export interface OpenOptions {
  /** Keeps what is read as a DuckDB file in this folder, `true`: in the user's cache; read anew when files change. */
  readonly cache?: string | boolean;
  /** Memory of intermediate results, such as `2GiB` (512MiB); more goes to a temporary folder. */
  readonly memory?: string;
  /** Seconds that a query may take. */
  readonly timeLimit?: number;
}

/** One or more recordings, open. */
export interface OpenRecording {
  /** Of its folder or file; of several, the first's schema. */
  readonly name: string;
  /** Of several, the schemas that hold their tables, in order; of one, its name. */
  readonly names: readonly string[];
  /** What readers could not use. */
  readonly suspects: readonly Suspect[];
  /** What could not be done, such as a cache that cannot be written, and was done without. */
  readonly notes: readonly string[];
  /**
   * All rows of a query.
   * @throws QueryError in one line
   */
  query<T extends object = Row>(sql: string): Promise<T[]>;
  /** The rows of a query, as they come. Leaving the loop ends the query. @throws QueryError */
  rows(sql: string): Promise<Rows>;
  /** The same as columns, without objects for rows. @throws QueryError */
  columns(sql: string): Promise<ColumnResult>;
  /** A table, typed where its schema is known beforehand. */
  table<N extends keyof KnownTables | (string & {})>(name: N): TypedTable<N>;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

class WorkerRecording implements OpenRecording {
  readonly names: readonly string[];
  readonly suspects: readonly Suspect[];
  readonly notes: readonly string[];
  readonly #timeLimit: number | undefined;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #dead: Error | null = null;

  constructor(
    worker: Worker,
    { recordings, notes }: Extract<Reply, { kind: 'open' }>,
    timeLimit: number | undefined,
  ) {
    this.#worker = worker;
    this.notes = notes;
    this.#timeLimit = timeLimit;
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
    const { columns, batches } = await this.columns(sql);
    const types = columns.map(({ type }) => type);
    const names = columns.map(({ name }) => name);
    const all: Row[][] = [];
    for await (const batch of batches) all.push(objectsOf(batch, types, names));
    return (all.length === 1 ? all[0] : all.flat()) as T[];
  }

  async rows(sql: string): Promise<Rows> {
    const { query, columns } = await this.#start(sql);
    const types = columns.map(({ type }) => type);
    return { columns, blocks: this.#blocks(query, types) };
  }

  async columns(sql: string): Promise<ColumnResult> {
    const { query, columns } = await this.#start(sql);
    return { columns, batches: this.#batches(query) };
  }

  table<N extends string>(name: N): TypedTable<N> {
    const read = (sql: string) => this.columns(sql);
    async function* batches(names: readonly string[], options: TableOptions = {}) {
      const { batches: all } = await read(selectOf(name, names, options));
      for await (const { rows, columns, missing } of all) {
        const named = <V>(values: readonly V[]) =>
          Object.fromEntries(names.map((key, k) => [key, values[k]]));
        yield { rows, columns: named(columns), missing: named(missing) };
      }
    }
    return { name, batches: batches as TypedTable<N>['batches'] };
  }

  async #start(sql: string) {
    const query = ++this.#last;
    const limit = this.#timeLimit === undefined ? {} : { timeLimit: this.#timeLimit };
    const started = await this.#ask({ kind: 'start', query, sql, ...limit });
    if (started.kind !== 'started') throw new Error(`unexpected reply: ${started.kind}`);
    return { query, columns: started.columns };
  }

  async *#blocks(
    query: number,
    types: readonly string[],
  ): AsyncGenerator<Value[][], void, undefined> {
    for await (const batch of this.#batches(query)) yield rowsOf(batch, types);
  }

  /** Up to the last, or an error; whoever leaves early ends the query. */
  async *#batches(query: number): AsyncGenerator<ColumnBatch, void, undefined> {
    let ended = false;
    try {
      for (;;) {
        ended = true;
        const reply = await this.#ask({ kind: 'columns', query });
        if (reply.kind !== 'batch' || reply.batch === null) return;
        ended = false;
        yield reply.batch;
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

/**
 * Opens a recording's folder, a folder of native files, or a file. Of several, each is a schema named as its folder, and
 * names without a schema mean the first's tables.
 * @throws InputError where a path cannot be read (file, place), MissingPieceError where DuckDB is not installed
 */
export function openRecording(path: string, ...more: readonly string[]): Promise<OpenRecording>;
export function openRecording(
  paths: string | readonly string[],
  options: OpenOptions,
): Promise<OpenRecording>;
export function openRecording(
  path: string | readonly string[],
  ...rest: readonly (string | OpenOptions)[]
): Promise<OpenRecording> {
  const paths = [path, ...rest].flatMap((one) => (typeof one === 'string' ? [one] : isList(one)));
  const options = rest.find((one) => typeof one === 'object') ?? {};
  const { cache = false, memory, timeLimit } = options;
  const cacheFolder = cache === true ? defaultCacheFolder() : cache === false ? null : cache;
  const task: WorkerTask = {
    paths,
    ended: endFlag(),
    options: { cacheFolder, ...(memory !== undefined && { memory }) },
  };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.js', import.meta.url), {
      workerData: task,
      name: 'query',
    });
    endAtExit(worker, task.ended, { kind: 'close' } satisfies Request);
    worker.once('error', reject);
    worker.once('message', (reply: Reply) => {
      worker.off('error', reject);
      if (reply.kind === 'open') resolve(new WorkerRecording(worker, reply, timeLimit));
      else if (reply.kind === 'failed') reject(errorFrom(reply.error));
    });
  });
}

const isList = (value: readonly string[] | OpenOptions): readonly string[] =>
  Array.isArray(value) ? value : [];
