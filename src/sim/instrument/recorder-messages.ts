/** What the recorder's thread sends to the thread that started it. */
import type { Stream } from './config.ts';

/** Frames for those who follow the run. */
export interface FramesMessage {
  readonly frames: readonly Uint8Array[];
  readonly bytes: number;
  /** Number of data frames that were left out before them. */
  readonly dropped: number;
}

/** What was written; sent when all is. */
export interface RecorderEnd {
  readonly bytes: number;
  readonly error: string | null;
  readonly lost: readonly StreamLoss[];
}

/** What the recorder took from one stream of a PE and could not write. */
export interface StreamLoss {
  readonly pe: number;
  readonly stream: Stream;
  readonly records: number;
  readonly bytes: number;
}
