/**
 * `notes.json` in a recording's folder: what people noted about moments of a run. A list, by time; written by `triscope annotate`,
 * or by hand.
 */
import { RecordingError } from './recording.ts';

/** Lies beside `recording.json`. */
export const NOTES_FILE = 'notes.json';

/** A text about a moment, or a stretch, of a run. */
export interface Note {
  /** Seconds since the recording's start, as column `t`. */
  readonly time: number;
  /** Where it is about a stretch: its end. */
  readonly until?: number;
  /** In one line. */
  readonly text: string;
}

/** Notes that a recording may have, and characters that one may have. */
export const MOST_NOTES = 1000;
const MOST_NOTE_TEXT = 500;

/** What ends a line, steers a terminal, or turns the direction of what follows. */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Why a note cannot be; '' where it can. */
export function noteFault({ time, until, text }: Readonly<Record<string, unknown>>): string {
  if (!Number.isFinite(time)) return 'time must be a number of seconds';
  if (until !== undefined && !(Number.isFinite(until) && Number(until) > Number(time)))
    return 'until must be a number of seconds after time';
  if (typeof text !== 'string' || text.trim() === '') return 'text must be a text';
  if (text.length > MOST_NOTE_TEXT) return `text must have at most ${MOST_NOTE_TEXT} characters`;
  return STEERING.test(text) ? 'text must be one line without control characters' : '';
}

/** Order of notes. */
export const byTime = (a: Note, b: Note): number => a.time - b.time;

/**
 * Checks what `JSON.parse` gave for a `notes.json`; gives the notes by time. Fields it does not know are left out.
 * @throws RecordingError that names the note and what of it is wrong
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
