/** Collections one after another: all types of the machine write their records into a raw stats file. */
import { type RawStyle, RawWriter } from '../formats/tacc/writer.ts';
import { EXIT, TriscopeError } from '../model/error.ts';
import { NodeTree } from './tree.ts';
import { NODE_TYPES } from './types/index.ts';
import { type Absent, OpenTypes } from './types/open-types.ts';
import type { NodeType } from './types/type.ts';

export type { Absent } from './types/open-types.ts';

/**
 * A requested type does not exist.
 * @example
 * ```ts
 * import { Collection, UnknownTypeError } from 'triscope/node';
 *
 * try {
 *   new Collection(() => {}, { types: ['cpus'] }).close();
 * } catch (error) {
 *   if (error instanceof UnknownTypeError) console.error(`no type ${error.type}`);
 * }
 * ```
 */
export class UnknownTypeError extends TriscopeError {
  override readonly name = 'UnknownTypeError';
  override readonly exitCode = EXIT.usage;
  /** The name that was given. */
  readonly type: string;
  /** @param type the name that was given */
  constructor(type: string) {
    super(`there is no type ${type}: see triscope node types`);
    this.type = type;
  }
}

/** What to collect (by default the types that the machine has), the host's name, and the root folder. */
export interface CollectionOptions {
  /** Names of types; if empty, all types that this machine has. */
  readonly types?: readonly string[];
  /** Names of types to leave out. */
  readonly without?: readonly string[];
  /** `$hostname`, if it is to differ from the kernel's. */
  readonly hostname?: string;
  /** Folder with a recorded `proc` and `sys`; this machine if omitted. */
  readonly root?: string;
  /** Version of the raw format. */
  readonly style?: RawStyle;
  /** Milliseconds allowed for sources that can block, such as Lustre's; 2000 if omitted. */
  readonly deadline?: number;
  /** Whether `between` will be called: narrow counters are then written as 64-bit totals. */
  readonly wide?: boolean;
}

/** The types in `names` except those in `without`. @throws UnknownTypeError */
function typesNamed(names: readonly string[], without: readonly string[]): readonly NodeType[] {
  for (const name of [...names, ...without]) {
    if (!NODE_TYPES.some((type) => type.name === name)) throw new UnknownTypeError(name);
  }
  const asked = (name: string) => names.length === 0 || names.includes(name);
  return NODE_TYPES.filter(({ name }) => asked(name) && !without.includes(name));
}

/** Microseconds to add to the monotonic clock to get the time since 1970. */
let offset = Number.NaN;

/**
 * Microseconds since 1970, as an integer: the wall clock, which has milliseconds and can be set, refined by the monotonic
 * clock. (`performance` alone would not follow when the clock is set.)
 */
export function now(): number {
  const wall = Date.now() * 1000;
  const [seconds, nanoseconds] = process.hrtime();
  const steady = seconds * 1e6 + Math.floor(nanoseconds / 1000);
  if (!(steady + offset >= wall && steady + offset < wall + 1000)) offset = wall - steady;
  return steady + offset;
}

/**
 * Collectors of a machine's types, and the writer of their records. Close it, because it holds files of the kernel open.
 * @example
 * ```ts
 * import { Collection } from 'triscope/node';
 *
 * const collection = new Collection((bytes) => process.stdout.write(bytes), { types: ['cpu', 'mem'] });
 * collection.collect(['4001'], 'begin 4001'); // one record group, now
 * collection.close();
 * ```
 */
export class Collection {
  /** The tree that it reads; closed with it. */
  readonly tree: NodeTree;
  /** Name of the host, as in each record. */
  readonly host: string;
  /** Where records go. */
  readonly writer: RawWriter;
  private readonly _types: OpenTypes;

  /**
   * Opens the types; writes nothing yet.
   * @throws UnknownTypeError
   */
  constructor(sink: (bytes: Uint8Array) => void, options: CollectionOptions = {}) {
    const tree = new NodeTree(options.root);
    this.tree = tree;
    const types = typesNamed(options.types ?? [], options.without ?? []);
    this._types = new OpenTypes(types, tree, {
      deadline: options.deadline,
      wide: options.wide,
    });
    this.host = options.hostname ?? tree.hostname();
    const schemas = this._types.schemas();
    const header = { hostname: this.host, uname: tree.uname(), uptime: tree.uptime(), schemas };
    this.writer = new RawWriter(header, sink, options.style);
  }

  /** Names of the types that are collected, in order. */
  get types(): readonly string[] {
    return this._types.types.map(({ name }) => name);
  }

  /** Types that this machine lacks. */
  get absent(): readonly Absent[] {
    return this._types.absent;
  }

  /** Number of failed collections by type; a failure does not affect other types of the same sample. */
  get failures(): ReadonlyMap<string, number> {
    return this._types.failures;
  }

  /**
   * Writes one record group for this moment (microseconds since 1970). `failed` is called for types that could not be read
   * this time.
   */
  collect(jobIds: readonly string[], mark?: string, failed?: (absent: Absent) => void): number {
    const time = now();
    this.writer.group(time, jobIds);
    if (mark !== undefined) this.writer.mark(mark);
    this._types.collect(this.writer, failed);
    this.writer.flush();
    return time;
  }

  /** Call it every `BETWEEN` ms if `wide` is set. */
  between(): void {
    this._types.between();
  }

  /** Closes the collectors' files. */
  close(): void {
    this._types.close();
  }
}
