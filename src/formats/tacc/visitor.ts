/** What a reader of raw stats files tells, in file order. Lines are counted from 1. */
import type { OddityKind } from './oddities.ts';
import type { RawSchema } from './schema.ts';

/** The line that a record group begins with: `1307509201 1981063`, `1795226192.368273 4001,4002 c101-001`. */
export interface RawGroup {
  /** As in the file: whole seconds since 1970, or with six decimals. */
  readonly time: string;
  readonly seconds: number;
  /** Jobs that run on the host; `-` and `0` stand for none and are kept. Empty where the line names none. */
  readonly jobIds: readonly string[];
  /** Null in files of 1.x, which do not say it. */
  readonly host: string | null;
  /** When the host was started, s since 1970: the time of the header's first group less `$uptime`; null without it. */
  readonly boot: number | null;
  readonly line: number;
}

/** A line that could not be used, or that is strange. All others were delivered. */
export interface RawProblem {
  readonly kind: OddityKind;
  readonly line: number;
  readonly reason: string;
  /** The line, or its beginning; bytes that are no text as \xNN. */
  readonly text: string;
}

/** Hears what stands in a raw stats file, line by line; lines count from 1. */
export interface RawVisitor {
  /** `$name value`: program and version, hostname, uname, uptime, and any other. */
  property?(name: string, value: string, line: number): void;
  /** `!type …`. A type that comes again with other keys replaces what was. */
  schema?(schema: RawSchema, line: number): void;
  group?(group: RawGroup): void;
  /** `%text` of the group before. */
  mark?(text: string, line: number): void;
  /**
   * A record of the group before. `values` is used again for the next record of the type: copy what is to stay.
   * Values are as in the file: totals since the counter's start, not corrected for rollover (see `repair.ts`).
   */
  record?(schema: RawSchema, device: string, values: BigUint64Array, line: number): void;
  /** A line that is left out. */
  problem?(problem: RawProblem): void;
  /** Something strange that cost nothing: what was read was delivered. */
  oddity?(oddity: RawProblem): void;
}

/** What was in a file. */
export interface RawSummary {
  readonly lines: number;
  readonly groups: number;
  readonly records: number;
  /** Lines that could not be used. */
  readonly problems: number;
  /** How often each kind of oddity was met, problems included. */
  readonly oddities: Readonly<Partial<Record<OddityKind, number>>>;
}
