/** Opens recordings for queries. */
import type { Row, Value } from '../model/row.ts';
import { objectsOf, rowsOf } from './batch-rows.ts';
import { defaultCacheFolder } from './cache-folder.ts';
import type { ColumnBatch } from './column-batches.ts';
import type { ColumnHelp } from './comments.ts';
import type { ResultColumn } from './database.ts';
import { errorFrom, TimeLimitError } from './errors.ts';
import { type Host, type MakeHost, processHost, threadHost } from './host.ts';
import type { Suspect } from './part.ts';
import type { QueryRequest, Reply, ServedTask } from './serve.ts';
import { type KnownTables, selectOf, type TableOptions, type TypedTable } from './typed-table.ts';

export type { ColumnBatch, Row, Value };

/** A result in blocks of rows, so that it need not fit into memory. */
export interface Rows {
  /** Names and types of a row's values. */
  readonly columns: readonly ResultColumn[];
  /** Rows in blocks of some ten thousand; a row has a value for each column. */
  readonly blocks: AsyncIterable<readonly (readonly Value[])[]>;
}

/** A result in batches of columns. */
export interface ColumnResult {
  /** Names and types of the columns. */
  readonly columns: readonly ResultColumn[];
  /** Some ten thousand rows at a time. */
  readonly batches: AsyncIterable<ColumnBatch>;
}

/**
 * Whether loaded tables are kept, bytes for intermediate results (`512MiB`), seconds that a query may take, and whether it
 * runs in a process of its own.
 */
export interface OpenOptions {
  /** Keeps what is read as a DuckDB file in this folder, `true`: in the user's cache; read anew when files change. */
  readonly cache?: string | boolean;
  /** Memory of intermediate results, such as `2GiB` (512MiB); more goes to a temporary folder. */
  readonly memory?: string;
  /** Seconds that a query may take. */
  readonly timeLimit?: number;
  /** DuckDB's threads (one a CPU, four at most): with one, many short queries take a quarter less CPU time, since none waits for others. */
  readonly threads?: number;
  /**
   * DuckDB runs in a process of its own, so that limits hold whatever a query does: one that goes on after its time or
   * signal, or takes more than `memory` beside what the recording itself takes, is ended with its process; the next opens
   * the recording anew. Without it, DuckDB is asked to end: it counts no memory, and hears no signal, within a function.
   * `background`: a process that leaves the CPUs to others (nice 10).
   */
  readonly isolated?: boolean | 'background';
  /** The user's own CSV and Parquet files: path by table name. No other file can be read. */
  readonly files?: Readonly<Record<string, string>>;
  /** Meanings of columns whose files do not state them, by table and column, for `metrics` and `DESCRIBE`. */
  readonly help?: ColumnHelp;
}

/** What ends a query. */
export interface QueryOptions {
  /** Ends the query: it is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** `CREATE VIEW` and `CREATE MACRO` statements whose names the query may use; they last as long as it. */
  readonly define?: readonly string[] | undefined;
}

/** One or more recordings, open. */
export interface OpenRecording {
  /** Name of its folder or file; of several recordings, the SQL schema of the first. */
  readonly name: string;
  /** Of several recordings, the SQL schemas that hold their tables, in order; of one, its name alone. */
  readonly names: readonly string[];
  /** Places in the files that could not be read, or are doubtful. */
  readonly suspects: readonly Suspect[];
  /** Optional work that failed, such as writing a cache; a sentence each. */
  readonly notes: readonly string[];
  /**
   * All rows of a query, each an object with a property for each column.
   * @throws QueryError in one line, TimeLimitError, MemoryLimitError, the signal's reason
   */
  query<T extends object = Row>(sql: string, options?: QueryOptions): Promise<T[]>;
  /**
   * The rows of a query in blocks, as they come. Leaving the loop ends the query.
   * @throws QueryError in one line, TimeLimitError, MemoryLimitError, the signal's reason
   */
  rows(sql: string, options?: QueryOptions): Promise<Rows>;
  /**
   * The result of a query as columns, without objects for rows.
   * @throws QueryError in one line, TimeLimitError, MemoryLimitError, the signal's reason
   */
  columns(sql: string, options?: QueryOptions): Promise<ColumnResult>;
  /** A table, column by column. The columns of tables that every recording has are typed. */
  table<N extends keyof KnownTables | (string & {})>(name: N): TypedTable<N>;
  /** Ends queries that are under way and closes the recordings. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** A query under way. */
interface Running {
  readonly query: number;
  readonly columns: readonly ResultColumn[];
  /** Of the process's clock, when it will have taken its time. */
  readonly until: number;
  readonly host: QueryHost;
  readonly signal: AbortSignal | undefined;
}

/** Milliseconds that DuckDB has to end a query by itself. */
const GRACE_MS = 1000;

type Opened = Extract<Reply, { kind: 'open' }>;

/** A thread or process that has the recordings open, and the queries that wait for it. */
class QueryHost {
  private readonly host: Host;
  private readonly waiting = new Map<number, Waiting>();
  private dead: Error | null = null;
  readonly opened: Promise<Opened>;

  constructor(make: MakeHost) {
    let tell: { resolve(reply: Opened): void; reject(error: Error): void };
    this.opened = new Promise((resolve, reject) => {
      tell = { resolve, reject };
    });
    this.host = make(
      (message) => {
        const reply = message as Reply;
        if (reply.kind === 'open') {
          // A recording that is not closed does not keep the process alive.
          this.host.unref();
          tell.resolve(reply);
        } else if (reply.kind === 'failed') tell.reject(errorFrom(reply.error));
        else this.receive(reply);
      },
      (why) => {
        this.dead ??= why;
        tell.reject(why);
        for (const { reject } of this.waiting.values()) reject(why);
        this.waiting.clear();
      },
    );
  }

  get isDead(): boolean {
    return this.dead !== null;
  }

  ask(request: Extract<QueryRequest, { query: number }>): Promise<Reply> {
    if (this.dead !== null) return Promise.reject(this.dead);
    return new Promise((resolve, reject) => {
      this.waiting.set(request.query, { resolve, reject });
      this.host.ref();
      this.host.post(request);
    });
  }

  /** Ends a query. If the query still runs after a while and its host can be ended, the host is ended, too. */
  end(query: number, why: Error): void {
    this.host.post({ kind: 'end', query } satisfies QueryRequest);
    this.killAfter(query, GRACE_MS, why);
  }

  /** @returns a function that cancels it */
  killAfter(query: number, milliseconds: number, why: Error): () => void {
    const { kill } = this.host;
    if (kill === null || !Number.isFinite(milliseconds)) return () => {};
    const timer = setTimeout(() => {
      if (this.waiting.has(query)) kill(why);
    }, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  }

  async close(): Promise<void> {
    if (this.dead !== null) return;
    this.host.ref();
    await this.host.close({ kind: 'close' } satisfies QueryRequest);
  }

  private receive(reply: Extract<Reply, { query: number }>): void {
    const waiting = this.waiting.get(reply.query);
    this.waiting.delete(reply.query);
    if (this.waiting.size === 0) this.host.unref();
    if (reply.kind === 'error') waiting?.reject(errorFrom(reply.error));
    else waiting?.resolve(reply);
  }
}

class HostedRecording implements OpenRecording {
  readonly names: readonly string[];
  readonly suspects: readonly Suspect[];
  readonly notes: readonly string[];
  private readonly timeLimit: number;
  private readonly make: MakeHost;
  private host: QueryHost;
  private last = 0;
  private isClosed = false;

  constructor(
    host: QueryHost,
    { recordings, notes }: Opened,
    make: MakeHost,
    timeLimit = Number.POSITIVE_INFINITY,
  ) {
    this.host = host;
    this.make = make;
    this.notes = notes;
    this.timeLimit = timeLimit;
    this.names = recordings.map(({ name }) => name);
    this.suspects = recordings.flatMap(({ suspects }) => suspects);
  }

  get name(): string {
    return this.names[0];
  }

  async query<T extends object = Row>(sql: string, options?: QueryOptions): Promise<T[]> {
    const { columns, batches } = await this.columns(sql, options);
    const types = columns.map(({ type }) => type);
    const names = columns.map(({ name }) => name);
    const all: Row[][] = [];
    for await (const batch of batches) all.push(objectsOf(batch, types, names));
    return (all.length === 1 ? all[0] : all.flat()) as T[];
  }

  async rows(sql: string, options?: QueryOptions): Promise<Rows> {
    const running = await this.start(sql, options);
    const types = running.columns.map(({ type }) => type);
    return { columns: running.columns, blocks: this.blocks(running, types) };
  }

  async columns(sql: string, options?: QueryOptions): Promise<ColumnResult> {
    const running = await this.start(sql, options);
    return { columns: running.columns, batches: this.batches(running) };
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

  private async start(sql: string, { signal, define }: QueryOptions = {}): Promise<Running> {
    signal?.throwIfAborted();
    const host = await this.living();
    const query = ++this.last;
    const limit = this.timeLimit;
    const until = performance.now() + 1000 * limit;
    const running: Running = { query, columns: [], until, host, signal };
    const request: QueryRequest = {
      kind: 'start',
      query,
      sql,
      ...(define !== undefined && { define }),
      ...(limit < Infinity && { timeLimit: limit }),
    };
    const started = await this.ask(running, request);
    if (started.kind !== 'started') throw new Error(`unexpected reply: ${started.kind}`);
    return { ...running, columns: started.columns };
  }

  /** Asks, until the query has taken its time or its signal ends it. */
  private async ask(
    running: Running,
    request: Extract<QueryRequest, { query: number }>,
  ): Promise<Reply> {
    const { query, until, host, signal } = running;
    signal?.throwIfAborted();
    const late = new TimeLimitError(
      `the query was stopped after ${this.timeLimit} s, its time limit`,
    );
    const inTime = host.killAfter(query, until + GRACE_MS - performance.now(), late);
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        host.end(
          query,
          new Error('another query had to be stopped, and this one with it: run it again'),
        );
        reject(signal?.reason);
      };
    });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([host.ask(request), aborted]);
    } finally {
      inTime();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** The host; where it had to be ended, another one. */
  private async living(): Promise<QueryHost> {
    if (this.isClosed) throw new Error('the recording is closed');
    if (this.host.isDead) this.host = new QueryHost(this.make);
    const host = this.host;
    await host.opened;
    return host;
  }

  private async *blocks(
    running: Running,
    types: readonly string[],
  ): AsyncGenerator<Value[][], void, undefined> {
    for await (const batch of this.batches(running)) yield rowsOf(batch, types);
  }

  /** Up to the last, or an error; whoever leaves early ends the query. */
  private async *batches(running: Running): AsyncGenerator<ColumnBatch, void, undefined> {
    const { query, host } = running;
    let ended = false;
    try {
      for (;;) {
        ended = true;
        const reply = await this.ask(running, { kind: 'columns', query });
        if (reply.kind !== 'batch' || reply.batch === null) return;
        ended = false;
        yield reply.batch;
      }
    } finally {
      if (!ended) host.end(query, new Error('the recording is closed'));
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.host.close();
  }
}

/**
 * Opens a recording's folder, a folder of native files, or a file. Of several, each is a schema named as its folder, and
 * names without a schema mean the first's tables.
 * @throws InputError where a path cannot be read (file, place), MissingPieceError where DuckDB is not installed
 * @example
 * ```ts
 * import { openRecording } from 'triscope/query';
 *
 * const recording = await openRecording('run.tri');
 * const rows = await recording.query<{ pe_id: number; events: number }>(
 *   'SELECT pe_id, sum(events_processed) AS events FROM ross_pe GROUP BY 1',
 * );
 * console.log(rows[0]?.events);
 * await recording.close();
 * ```
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
  const { cache = false, memory, threads, timeLimit, isolated = false } = options;
  const files = Object.entries(options.files ?? {}).map(([name, path]) => ({ name, path }));
  const cacheFolder = cache === true ? defaultCacheFolder() : cache === false ? null : cache;
  const task: ServedTask = {
    paths,
    options: {
      cacheFolder,
      files,
      help: options.help ?? {},
      ...(memory !== undefined && { memory }),
      ...(threads !== undefined && { threads }),
    },
  };
  const make: MakeHost = (...told) =>
    isolated === false
      ? threadHost(task, ...told)
      : processHost(task, isolated === 'background', ...told);
  const host = new QueryHost(make);
  return host.opened.then((opened) => new HostedRecording(host, opened, make, timeLimit));
}

const isList = (value: readonly string[] | OpenOptions): readonly string[] =>
  Array.isArray(value) ? value : [];
