/** What a type of the node collector is: one file in this folder, one line in `index.ts`. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import type { SavedRegister } from '../hardware/registers.ts';
import type { NodeTree } from '../tree.ts';

/**
 * A type of raw stats: its keys, where they are from, and how its collector is opened. @throws UnavailableError from `open`
 * where the machine has none
 */
export interface NodeType {
  /** As in records: `cpu`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** What a device is, such as `CPU`. */
  readonly device: string;
  /** Where the numbers come from. */
  readonly source: string;
  /** The schema: keys in the order of a record's values. */
  readonly metrics: readonly Metric[];
  /**
   * Prepares collecting; called once per run.
   * @param keys names of those to be written, where another process has told readers; with `keysFirst` alone
   * @throws UnavailableError where this machine has nothing to read
   */
  open(tree: NodeTree, keys?: readonly string[] | null): Collector;
  /**
   * The same for a process that calls `between` every `BETWEEN_MS`: narrow counters are written as totals of 64 bits, and
   * their schema has no width, so that they never share a file with what single samples read.
   * @throws UnavailableError
   */
  openWide?(tree: NodeTree): Collector;
  /**
   * Sets control registers, so that counters count what the type means by them; only where the user asks for it. Before
   * the first is written, `keep` gets what they hold, in the order of writing, for `restoreRegisters`; where it throws,
   * nothing is written.
   * @throws UnavailableError on processors whose events are not known, and where registers cannot be written: then they
   * have again what they held
   */
  program?(tree: NodeTree, keep: (saved: readonly SavedRegister[]) => void): void;
  /** The registers that `program` writes on this machine; none where it cannot. */
  programs?(tree: NodeTree): readonly Omit<SavedRegister, 'value'>[];
  /**
   * For sources that may never answer, such as files of a network's file system: whether `open` and `collect` are to
   * happen in a child process. Reads nothing that could block itself.
   * @throws UnavailableError where this machine has nothing to read
   */
  readonly mayBlock?: (tree: NodeTree) => boolean;
  /** Its keys depend on the machine, and only the child process can tell: the schema waits for it. */
  readonly keysFirst?: true;
}

/** Milliseconds: a quarter of what the energy counter of a package takes at 1 kW to roll over. */
export const BETWEEN_MS = 15_000;

/** Writes one record a device when it is asked to. `between` is called between samples of types that were opened by `openWide`. */
export interface Collector {
  /** The schema, where it depends on the machine. */
  readonly metrics?: readonly Metric[];
  /** Writes a record per device. An error here concerns this type alone. */
  collect(writer: RawWriter): void;
  /** Reads what may roll over before the next collection; where it is opened `wide`. */
  between?(): void;
  /** Closes its files. */
  close(): void;
}

/** A state of a type, such as the memory in use. `unit` as raw stats files have it. */
export function gauge(key: string, help: string, unit = ''): Metric {
  return {
    key,
    cell: 'u64',
    kind: 'gauge',
    behaviour: 'variable',
    form: 'total',
    unit,
    over: 'sum',
    help,
  };
}

/** An event counter of a type. `unit` as raw stats files have it. */
export function counter(key: string, help: string, unit = '', bits?: number): Metric {
  return {
    key,
    cell: 'u64',
    kind: 'event',
    behaviour: 'monotone',
    form: 'total',
    ...(bits !== undefined && { bits }),
    unit,
    over: 'sum',
    help,
  };
}

/** A control register of a type: archived beside the counters that it sets. */
export function control(key: string, help: string): Metric {
  return {
    key,
    cell: 'u64',
    kind: 'control',
    behaviour: 'variable',
    form: 'total',
    unit: '',
    over: 'same',
    help,
  };
}
