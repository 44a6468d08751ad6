/** What /api/facts and /api/recordings give. Runs in the server and in the page. */
import type { RecordingState } from '../../model/recording.ts';
import type { PageFacts } from './run.ts';

export interface ServedFacts extends PageFacts {
  /** Name in `?recording=`. */
  readonly id: string;
  /** Whether samples come as they are taken, by /live. */
  readonly live: boolean;
  /** Grows when a recording's files have. */
  readonly revision: number;
  /** Its files were removed; what was read before is still shown. */
  readonly gone: boolean;
  /** Whether it is an archive with a job index, for which the Cluster view is shown. */
  readonly cluster?: true;
}

/** A path that was to be shown, and why it is not. */
export interface Refused {
  readonly path: string;
  readonly why: string;
}

export interface RecordingEntry {
  readonly id: string;
  readonly title: string;
  readonly state: RecordingState;
  readonly live: boolean;
}
