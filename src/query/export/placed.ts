/** A recording among others. */
import type { Sources } from '../sources.ts';
import type { Table } from '../table.ts';

export interface PlacedRecording {
  readonly sources: Sources;
  /** Name of the schema with its tables. */
  readonly schema: string;
  /** What its files hold. */
  readonly tables: readonly Table[];
  /** Its start, ns since 1970; null if unknown. */
  readonly start: bigint | null;
  /** Seconds from the earliest start of all to its own. */
  readonly shift: number;
}
