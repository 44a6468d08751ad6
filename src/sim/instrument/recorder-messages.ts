/** What the recorder's thread tells the thread that started it. */
import type { Stream } from './config.ts';

export type RecorderMessage =
  | {
      readonly kind: 'frames';
      readonly frames: readonly Uint8Array[];
      readonly bytes: number;
      /** Data frames left out before them. */
      readonly dropped: number;
    }
  | {
      readonly kind: 'done';
      readonly bytes: number;
      readonly error: string | null;
      readonly lost: readonly StreamLoss[];
    };

/** What the recorder took from one stream of a PE and could not write. */
export interface StreamLoss {
  readonly pe: number;
  readonly stream: Stream;
  readonly records: number;
  readonly bytes: number;
}
