/** What a reader of raw stats files tells, in file order. Lines are counted from 1. */
import type { OddityKind } from './oddities.ts';
import type { RawSchema } from './schema.ts';

/** The line that a record group begins with: `1307509201 1981063`, `1795226192.368273 4001,4002 c101-001`. */
export interface RawGroup {
  /** As in the file: whole seconds since 1970, or with six decimals. */
  readonly time: string;
  /** The same as a number, seconds since 1970. */
  readonly seconds: number;
  /** Jobs that run on the host; `-` and `0` mean none and are kept. Empty if the line names none. */
  readonly jobIds: readonly string[];
  /** Null in files of 1.x, which do not have it. */
  readonly host: string | null;
  /** When the host was started, s since 1970: the time of the header's first group minus `$uptime`; null without it. */
  readonly boot: number | null;
  /** Number of its line in the file, from 1 on. */
  readonly line: number;
}

/** A line that could not be used, or that is suspect. All others were delivered. */
export interface RawProblem {
  /** Which kind of oddity it is. */
  readonly kind: OddityKind;
  /** Number of the line in the file, from 1 on. */
  readonly line: number;
  /** What is wrong with it, in a clause. */
  readonly reason: string;
  /** The line, or its beginning; bytes that are not text as \xNN. */
  readonly text: string;
}

/** Called with what a raw stats file contains, in the order of its lines. */
export interface RawVisitor {
  /**
   * `$name value`: program and version, hostname, uname, uptime, and any other.
   * @param line number of the line, from 1 on
   */
  property?(name: string, value: string, line: number): void;
  /**
   * `!type …`. A type that comes again with other keys replaces the earlier one.
   * @param line number of the line, from 1 on
   */
  schema?(schema: RawSchema, line: number): void;
  /** A time, with the jobs that ran then; the records that follow belong to it. */
  group?(group: RawGroup): void;
  /**
   * `%text` of the group before.
   * @param line number of the line, from 1 on
   */
  mark?(text: string, line: number): void;
  /**
   * A record of the group before.
   * @param values as in the file, in the units of the schema: totals since the counter's start, not corrected for rollover
   * (see `repair`). The array is used again for the next record of the type: copy what you keep
   * @param line number of the line, from 1 on
   */
  record?(schema: RawSchema, device: string, values: BigUint64Array, line: number): void;
  /** A line that is left out. */
  problem?(problem: RawProblem): void;
  /** Something suspect that lost nothing: what was read was delivered. */
  oddity?(oddity: RawProblem): void;
}

/** What was in a file. */
export interface RawSummary {
  /** How many lines were read. */
  readonly lines: number;
  /** How many record groups: times with jobs. */
  readonly groups: number;
  /** How many records. */
  readonly records: number;
  /** How many lines could not be used. */
  readonly problems: number;
  /** How often each kind of oddity was met, problems included. */
  readonly oddities: Readonly<Partial<Record<OddityKind, number>>>;
}
