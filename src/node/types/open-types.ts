/** Opens types and writes their records: directly, or in a child process if a source may never answer. */
import { type RawSchema, rawSchemaOf } from '../../formats/tacc/schema.ts';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import type { NodeTree } from '../tree.ts';
import { ChildReader } from './child-reader.ts';
import type { Collector, NodeType } from './type.ts';

/** A type without records, with the reason. */
export interface Absent {
  /** Name of the type. */
  readonly type: string;
  /** Why it has no records, as a clause. */
  readonly reason: string;
}

interface OpenTypesOptions {
  /** Milliseconds that a child process may take for a collection; 2000 if omitted. */
  readonly deadline?: number;
  /** Reads everything in this process, even sources that may block: only for a process that may be abandoned. */
  readonly here?: boolean;
  /** Whether `between` will be called: see `NodeType.openWide`. */
  readonly wide?: boolean;
}

const DEADLINE_MS = 2000;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Open {
  readonly type: NodeType;
  readonly collector: Collector;
}

export class OpenTypes {
  /** In the order in which they were asked for. */
  readonly types: readonly NodeType[];
  readonly absent: readonly Absent[];
  private readonly tree: NodeTree;
  private readonly open: Open[] = [];
  private readonly children: ChildReader[] = [];
  /** Types whose keys a child has told. */
  private readonly keys = new Map<NodeType, readonly Metric[]>();
  private readonly _failures = new Map<string, number>();

  constructor(types: readonly NodeType[], tree: NodeTree, options: OpenTypesOptions = {}) {
    this.tree = tree;
    const absent: Absent[] = [];
    const elsewhere: NodeType[] = [];
    const here = types.filter((type) => {
      try {
        if (!options.here && type.mayBlock?.(tree)) elsewhere.push(type);
        else {
          const wide = options.wide && type.openWide;
          this.open.push({ type, collector: wide ? wide(tree) : type.open(tree) });
        }
        return true;
      } catch (error) {
        absent.push({ type: type.name, reason: messageOf(error) });
        return false;
      }
    });
    this.absent = absent;
    const deadline = options.deadline ?? DEADLINE_MS;
    const read = (some: readonly NodeType[], tells: boolean) => {
      if (some.length === 0) return null;
      const names = some.map(({ name }) => name);
      const child = new ChildReader(names, tree.root, deadline, tells);
      this.children.push(child);
      return child;
    };
    // Separate children: a GPU that hangs must not hold up file systems, nor the other way round.
    read(
      elsewhere.filter(({ keysFirst = false }) => !keysFirst),
      false,
    );
    const first = elsewhere.filter(({ keysFirst = false }) => keysFirst);
    const told = read(first, true)?.toldKeys() ?? null;
    this.types = here.filter((type) => {
      if (!first.includes(type)) return true;
      const keys = told?.[type.name] ?? 'its library does not answer';
      if (typeof keys === 'string') absent.push({ type: type.name, reason: keys });
      else
        this.keys.set(
          type,
          type.metrics.filter(({ key }) => keys.includes(key)),
        );
      return typeof keys !== 'string';
    });
    if (first.length > 0 && told === null) this.children.pop()?.close();
  }

  /** Schemas of the types on this machine. */
  schemas(): RawSchema[] {
    const own = new Map(this.open.map(({ type, collector }) => [type, collector.metrics]));
    return this.types.map((type) =>
      rawSchemaOf(type.name, own.get(type) ?? this.keys.get(type) ?? type.metrics),
    );
  }

  /** Failed collections by type; a failure does not affect the others of the same moment. */
  get failures(): ReadonlyMap<string, number> {
    return this._failures;
  }

  /** Writes the records of all types into the group that has begun. `failed` is called for those that could not be read. */
  collect(writer: RawWriter, failed: (absent: Absent) => void = () => {}): void {
    const fail = (type: string, reason: string) => {
      this._failures.set(type, (this._failures.get(type) ?? 0) + 1);
      failed({ type, reason });
    };
    // The children read while this process does.
    for (const child of this.children) child.ask();
    this.tree.begin();
    for (const { type, collector } of this.open) {
      try {
        collector.collect(writer);
      } catch (error) {
        writer.dropRecord();
        fail(type.name, messageOf(error));
      }
    }
    for (const child of this.children) child.answer(writer, fail);
  }

  /** Reads counters that may roll over before the next collection. The next collection reports what cannot be read now. */
  between(): void {
    for (const { collector } of this.open) {
      try {
        collector.between?.();
      } catch {
        // The next collection fails in the same way, or begins its totals again.
      }
    }
  }

  close(): void {
    for (const { collector } of this.open) collector.close();
    this.open.length = 0;
    this.tree.close();
    for (const child of this.children) child.close();
  }
}
