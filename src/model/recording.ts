/**
 * `recording.json`: the contents of a recording's folder, how it was made, and how its clocks are related.
 * Written when a run starts (`running`) and again when it ends; native files lie beside it.
 */
import { EXIT, TriscopeError } from './error.ts';

/** Version of this layout; it is increased when a reader of the old one would make mistakes. */
export const RECORDING_VERSION = 1;

export const RECORDING_FILE = 'recording.json';

const RECORDING_STATES = ['running', 'finished', 'interrupted', 'failed'] as const;

/** How the run ended; a folder that stays `running` without a writer was killed. */
export type RecordingState = (typeof RECORDING_STATES)[number];

export interface RecordingHost {
  readonly name: string;
  readonly platform: string;
  readonly arch: string;
  /** CPUs that the operating system sees, and their model. */
  readonly cpus: number;
  readonly cpuModel: string;
  /** Bytes. */
  readonly memory: number;
}

export interface RecordingFile {
  /** Relative to the folder. */
  readonly path: string;
  /** Name of its format, which selects the reader. */
  readonly format: string;
  /** The layout of the model's own bytes in its records, if it is the same in all. */
  readonly payload?: readonly RecordingPayloadField[];
  /** Its length and SHA-256 (hexadecimal) when it was finished. Absent in runs that did not end. */
  readonly bytes?: number;
  readonly sha256?: string;
}

interface RecordingPayloadField {
  readonly name: string;
  /** Such as `u32`. */
  readonly type: string;
  /** Byte of the payload at which it lies. */
  readonly at: number;
}

export interface RecordingSource {
  /** Unique in the recording. */
  readonly name: string;
  readonly files: readonly RecordingFile[];
  /** Wall-clock time of this source's time 0: nanoseconds since 1970 as a decimal string (beyond 2^53). */
  readonly zero: string;
  /** Seconds from `zero` to the moment at which the PEs began to handle events, after their set-up; absent where that is not known. */
  readonly began?: number;
  /** Bytes that were not written for lack of room or time. */
  readonly droppedBytes: number;
  /** Nanoseconds that its clock was ahead of the first host's, as signed digits; times of day in its files are corrected by it. */
  readonly ahead?: string;
  /** Limits of its clock, in words, if it is not that of its host. */
  readonly clock?: string;
  /** Nanoseconds by which its times may be off against those of the other sources; absent if not known. */
  readonly bound?: number;
}

/**
 * Seconds from a recording's zero to the moment at which its PEs began to handle events; their first samples cover the
 * time from there. Undefined where that is not known.
 */
export const beganOf = ({ sources }: Pick<Recording, 'sources'>): number | undefined =>
  sources.find(({ began }) => began !== undefined)?.began;

/** How far a host's clocks were ahead of the first host's at one moment. Signed nanoseconds as decimal digits. */
export interface RecordingOffset {
  /** Nanoseconds since 1970 on the first host. */
  readonly at: string;
  /** Of the clocks that count from boot: real times of samples. */
  readonly monotonic: string;
  /** Of the times of day. */
  readonly wall: string;
  /** Nanoseconds by which either may be wrong: half of the shortest round trip. */
  readonly uncertainty: number;
}

/** A host's clocks against the first host's. Samples are aligned by `start`; drift is reported, not corrected. */
export interface RecordingClock {
  /** Name of one of `hosts`, and the rank on it that measured. */
  readonly host: string;
  readonly rank: number;
  /** Its monotonic clock is the first host's: nothing was corrected. */
  readonly same: boolean;
  readonly start: RecordingOffset;
  readonly end: RecordingOffset;
  /** Nanoseconds gained per second between the two, and the error of this. */
  readonly drift: number;
  readonly driftUncertainty: number;
}

/** Where a PE of the simulator ran: joins its samples to those of its host, CPU and thread. */
export interface RecordingPe {
  readonly pe: number;
  /** Process number of a run on several processes; 0 otherwise. */
  readonly rank: number;
  /** Name of one of `hosts`. */
  readonly host: string;
  /** CPU to which it was bound; null if it was not. */
  readonly cpu: number | null;
  /** Kernel thread; null where unknown. */
  readonly threadId: number | null;
}

export interface Recording {
  readonly version: number;
  readonly state: RecordingState;
  readonly madeBy: {
    /** The command line, without the interpreter. */
    readonly command: readonly string[];
    readonly triscope: string;
    readonly node: string;
  };
  /** ISO 8601, UTC. `ended` is present once the run has ended. */
  readonly started: string;
  readonly ended?: string;
  /** Why it failed. */
  readonly error?: string;
  readonly hosts: readonly RecordingHost[];
  readonly sources: readonly RecordingSource[];
  readonly pes: readonly RecordingPe[];
  /** Hosts except the first, if the run was on several. */
  readonly clocks?: readonly RecordingClock[];
  /** The job of which this folder is one host's part: the others lie beside it, and are read together. */
  readonly part?: string;
}

/** An invalid `recording.json`. The message is for the user. */
export class RecordingError extends TriscopeError {
  override readonly name = 'RecordingError';
  override readonly exitCode = EXIT.input;
}

type Check = (value: unknown, at: string) => void;

const wrong = (at: string, what: string): never => {
  throw new RecordingError(`${at} ${what}`);
};
const text: Check = (v, at) => typeof v === 'string' || wrong(at, 'must be a text');
const count: Check = (v, at) =>
  (Number.isSafeInteger(v) && (v as number) >= 0) || wrong(at, 'must be an integer of at least 0');
const number: Check = (v, at) =>
  (Number.isInteger(v) && (v as number) >= 0 && (v as number) < 2 ** 32) ||
  wrong(at, 'must be an integer of 0 to 4294967295');
const numberOrNull: Check = (v, at) => v === null || number(v, at);
const date: Check = (v, at) =>
  (typeof v === 'string' && !Number.isNaN(Date.parse(v))) || wrong(at, 'must be a date, ISO 8601');
const nanoseconds: Check = (v, at) =>
  (typeof v === 'string' && /^\d{1,19}$/.test(v)) ||
  wrong(at, 'must be nanoseconds, as 1 to 19 decimal digits');
const signed: Check = (v, at) =>
  (typeof v === 'string' && /^-?\d{1,19}$/.test(v)) ||
  wrong(at, 'must be nanoseconds, as 1 to 19 signed digits');
const sha256: Check = (v, at) =>
  (typeof v === 'string' && /^[0-9a-f]{64}$/.test(v)) ||
  wrong(at, 'must be a SHA-256, as 64 hexadecimal digits');
const yesOrNo: Check = (v, at) => typeof v === 'boolean' || wrong(at, 'must be true or false');
const finite: Check = (v, at) => Number.isFinite(v) || wrong(at, 'must be a number');
const insidePath: Check = (v, at) =>
  (typeof v === 'string' &&
    v !== '' &&
    !v.startsWith('/') &&
    !v.includes('\0') &&
    !v.split(/[\\/]/).includes('..')) ||
  wrong(at, 'must be a path inside the folder');
const list =
  (of: Check): Check =>
  (v, at) => {
    if (!Array.isArray(v)) wrong(at, 'must be a list');
    (v as unknown[]).forEach((item, k) => {
      of(item, `${at}[${k}]`);
    });
  };
const object =
  (fields: Readonly<Record<string, Check>>, optional: readonly string[] = []): Check =>
  (v, at) => {
    if (typeof v !== 'object' || v === null || Array.isArray(v)) wrong(at, 'must be an object');
    const given = v as Record<string, unknown>;
    for (const [name, check] of Object.entries(fields)) {
      if (given[name] === undefined && optional.includes(name)) continue;
      check(given[name], `${at}.${name}`);
    }
  };

const offset = object({ at: nanoseconds, monotonic: signed, wall: signed, uncertainty: count });

const recording = object(
  {
    version: count,
    state: (v, at) =>
      RECORDING_STATES.includes(v as RecordingState) ||
      wrong(at, `must be one of ${RECORDING_STATES.join(', ')}`),
    madeBy: object({ command: list(text), triscope: text, node: text }),
    started: date,
    ended: date,
    error: text,
    hosts: list(
      object({
        name: text,
        platform: text,
        arch: text,
        cpus: count,
        cpuModel: text,
        memory: count,
      }),
    ),
    sources: list(
      object(
        {
          name: text,
          files: list(
            object(
              {
                path: insidePath,
                format: text,
                payload: list(object({ name: text, type: text, at: count })),
                bytes: count,
                sha256,
              },
              ['payload', 'bytes', 'sha256'],
            ),
          ),
          zero: nanoseconds,
          began: finite,
          droppedBytes: count,
          ahead: signed,
          clock: text,
          bound: count,
        },
        ['began', 'ahead', 'clock', 'bound'],
      ),
    ),
    pes: list(
      object({ pe: number, rank: number, host: text, cpu: numberOrNull, threadId: numberOrNull }),
    ),
    clocks: list(
      object({
        host: text,
        rank: number,
        same: yesOrNo,
        start: offset,
        end: offset,
        drift: finite,
        driftUncertainty: finite,
      }),
    ),
    part: text,
  },
  ['ended', 'error', 'clocks', 'part'],
);

/**
 * Checks the result of `JSON.parse` for a `recording.json`. Unknown fields are kept.
 * @throws RecordingError that names the field and its allowed values, or the version that is too new
 */
export function checkRecording(value: unknown): Recording {
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > RECORDING_VERSION) {
    throw new RecordingError(
      `${RECORDING_FILE} has version ${version}; this triscope reads up to ${RECORDING_VERSION}: use a newer one`,
    );
  }
  recording(value, RECORDING_FILE);
  return value as Recording;
}
