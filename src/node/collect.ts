/** One collection after another: the types that are there write their records into a raw stats writer. */
import { rawSchemaOf } from '../formats/tacc/schema.ts';
import { type RawStyle, RawWriter } from '../formats/tacc/writer.ts';
import { NodeTree, UnavailableError } from './tree.ts';
import { NODE_TYPES } from './types/index.ts';
import type { Collector, NodeType } from './types/type.ts';

/** A type that is asked for and does not exist. */
export class UnknownTypeError extends Error {
  override readonly name = 'UnknownTypeError';
  readonly type: string;
  constructor(type: string) {
    super(`there is no type ${type}: see triscope node types`);
    this.type = type;
  }
}

export interface CollectionOptions {
  /** Names of types; all that this machine has where it is empty. */
  readonly types?: readonly string[];
  /** Folder of a recorded `proc` and `sys`; this machine where absent. */
  readonly root?: string;
  readonly style?: RawStyle;
}

/** A type without records, and why. */
export interface Absent {
  readonly type: string;
  readonly reason: string;
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function typesNamed(names: readonly string[]): readonly NodeType[] {
  if (names.length === 0) return NODE_TYPES;
  for (const name of names) {
    if (!NODE_TYPES.some((type) => type.name === name)) throw new UnknownTypeError(name);
  }
  return NODE_TYPES.filter((type) => names.includes(type.name));
}

/** Microseconds since 1970, whole. */
export function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}

interface Open {
  readonly type: NodeType;
  readonly collector: Collector;
  /** Collections that failed. */
  failures: number;
}

export class Collection {
  readonly host: string;
  readonly writer: RawWriter;
  readonly absent: readonly Absent[];
  readonly #open: Open[] = [];

  /**
   * Opens the types; writes nothing yet.
   * @throws UnknownTypeError
   */
  constructor(sink: (bytes: Uint8Array) => void, options: CollectionOptions = {}) {
    const tree = new NodeTree(options.root);
    const absent: Absent[] = [];
    for (const type of typesNamed(options.types ?? [])) {
      try {
        this.#open.push({ type, collector: type.open(tree), failures: 0 });
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        absent.push({ type: type.name, reason: error.message });
      }
    }
    this.absent = absent;
    this.host = tree.hostname();
    const schemas = this.#open.map(({ type, collector }) =>
      rawSchemaOf(type.name, collector.metrics ?? type.metrics),
    );
    const header = { hostname: this.host, uname: tree.uname(), uptime: tree.uptime(), schemas };
    this.writer = new RawWriter(header, sink, options.style);
  }

  get types(): readonly string[] {
    return this.#open.map(({ type }) => type.name);
  }

  /** Collections that failed, by type; the others of the same moment were not harmed. */
  get failures(): ReadonlyMap<string, number> {
    const failed = this.#open.filter(({ failures }) => failures > 0);
    return new Map(failed.map(({ type, failures }) => [type.name, failures]));
  }

  /** Writes one record group. `failed` hears of types that could not be read this time. */
  collect(
    jobIds: readonly string[],
    mark?: string,
    failed: (absent: Absent) => void = () => {},
  ): void {
    this.writer.group(now(), jobIds);
    if (mark !== undefined) this.writer.mark(mark);
    for (const open of this.#open) {
      try {
        open.collector.collect(this.writer);
      } catch (error) {
        this.writer.dropRecord();
        open.failures++;
        failed({ type: open.type.name, reason: reasonOf(error) });
      }
    }
    this.writer.flush();
  }

  close(): void {
    for (const { collector } of this.#open) collector.close();
  }
}
