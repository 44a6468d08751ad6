/**
 * `notes.json` in a recording's folder: users' notes about moments of a run. A list, ordered by time; written by `triscope annotate`,
 * or by hand.
 */
import { RecordingError } from './recording.ts';

/** Lies beside `recording.json`. */
export const NOTES_FILE = 'notes.json';

/** A text about a moment, or an interval, of a run. */
export interface Note {
  /** Seconds since the recording's start, as column `t`. */
  readonly time: number;
  /** The end, if it is about an interval. */
  readonly until?: number;
  /** In one line. */
  readonly text: string;
}

/** Maximum number of notes of a recording, and of characters in a note. */
export const MOST_NOTES = 1000;
const MOST_NOTE_TEXT = 500;

/** Characters that end a line, control a terminal, or change the text's direction. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Why a note is not valid; '' if it is. */
export function noteFault({ time, until, text }: Readonly<Record<string, unknown>>): string {
  if (!Number.isFinite(time)) return 'time must be a number of seconds';
  if (until !== undefined && !(Number.isFinite(until) && Number(until) > Number(time)))
    return 'until must be a number of seconds after time';
  if (typeof text !== 'string' || text.trim() === '') return 'text must be a text';
  if (text.length > MOST_NOTE_TEXT) return `text must have at most ${MOST_NOTE_TEXT} characters`;
  return STEERING.test(text) ? 'text must be one line without control characters' : '';
}

/** The order of notes. */
export const byTime = (a: Note, b: Note): number => a.time - b.time;

/**
 * Checks the result of `JSON.parse` for a `notes.json`; returns the notes by time. Unknown fields are left out.
 * @throws RecordingError that names the note and its error
 */
export function checkNotes(value: unknown): Note[] {
  if (!Array.isArray(value)) throw new RecordingError('must be a list of notes');
  if (value.length > MOST_NOTES)
    throw new RecordingError(`has ${value.length} notes; at most ${MOST_NOTES} are read`);
  const notes = value.map((one: unknown, k): Note => {
    const given = typeof one === 'object' && one !== null ? (one as Record<string, unknown>) : {};
    const fault = noteFault(given);
    if (fault !== '') throw new RecordingError(`note ${k + 1}: ${fault}`);
    const { time, until, text } = given as unknown as Note;
    return { time, ...(until !== undefined && { until }), text };
  });
  return notes.sort(byTime);
}
