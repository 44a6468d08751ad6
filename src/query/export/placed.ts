/** A recording beside others. */
import type { Sources } from '../sources.ts';

export interface PlacedRecording {
  readonly sources: Sources;
  /** Name of the schema with its tables. */
  readonly schema: string;
  /** Its start, ns since 1970; null where nothing says it. */
  readonly start: bigint | null;
  /** Seconds from the earliest start of all to its own. */
  readonly shift: number;
}
