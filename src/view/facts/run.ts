/** The page's first line, and where PEs ran. Runs in the server and in the page. */
import type {
  Recording,
  RecordingHost,
  RecordingPe,
  RecordingState,
} from '../../model/recording.ts';
import type { Flag } from './flag.ts';

/** What is known about a run before any sample: its name, state, hosts and PEs. */
export interface PageFacts {
  /** The recording's name, or what a live run calls itself. */
  readonly title: string;
  /** The command line that made it. */
  readonly command: string;
  /** Whether the run goes on, or how it ended. */
  readonly state: RecordingState;
  /** Hosts that the run used. */
  readonly hosts: readonly RecordingHost[];
  /** PEs of the run, each with its host and thread. */
  readonly pes: readonly RecordingPe[];
  /** Wall-clock time of second 0: nanoseconds since 1970, as a decimal string. */
  readonly zero: string;
  /** What could not be read, and bytes that were dropped: one sentence each. */
  readonly notes: readonly string[];
  /** Flags on the time axis, in order of time: the notes of the recording’s folder, the marks of its nodes. */
  readonly flags?: readonly Flag[];
  /** 'virtual' where samples have no real time: charts then show virtual time in place of seconds. */
  readonly clock?: 'virtual';
  /** A sentence that says that the result was verified; absent where it was not. */
  readonly proof?: string;
  /** Names of its tables, also of those that are not drawn over time; of a run that goes on, those there were when they were last asked for. */
  readonly tables?: readonly string[];
  /** The jobs of an archive are shown, and nothing else of it. */
  readonly jobs?: {
    /** Whose jobs; null: all. */
    readonly user: string | null;
    /** First and last second of the archive's jobs; null where there are none. */
    readonly span: readonly [number, number] | null;
  };
}

export function pageFactsOf(
  recording: Recording,
  title: string,
  notes: readonly string[],
): PageFacts {
  const dropped = recording.sources.filter(({ droppedBytes }) => droppedBytes > 0);
  return {
    title,
    command: recording.madeBy.command.join(' '),
    state: recording.state,
    hosts: recording.hosts,
    pes: recording.pes,
    zero: zeroOf(recording),
    notes: [
      ...notes,
      ...(recording.error === undefined ? [] : [`The run failed: ${recording.error}`]),
      ...dropped.map(
        ({ name, droppedBytes }) =>
          `${name}: ${droppedBytes} bytes were dropped because buffers or the disk were full`,
      ),
    ],
  };
}

/** Second 0 of a recording is that of its first source. */
export function zeroOf(recording: Recording): string {
  const [least] = recording.sources
    .map(({ zero }) => BigInt(zero))
    .sort((a, b) => (a < b ? -1 : 1));
  return String(least ?? BigInt(Date.parse(recording.started)) * 1_000_000n);
}
