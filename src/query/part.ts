/**
 * Parts of files with their place on a recording's timeline, and the suspect spots that readers found.
 */
import type { Part } from '../formats/part.ts';

/** Where a part's time column is on the recording's timeline. */
export interface PlacedPart {
  readonly part: Part;
  /** Number of the column with the time; null if there is none. */
  readonly time: number | null;
  /** Seconds to add to it: then it is the time since the recording's start. */
  readonly shift: number;
  /** Where it is from. */
  readonly file: string;
}

/** What a reader could not use, or found doubtful. */
export interface Suspect {
  /** Path of the file in the recording. */
  readonly file: string;
  /** What is wrong with it, in words. */
  readonly what: string;
}
