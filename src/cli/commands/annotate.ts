/** `triscope annotate PATH TIME TEXT`: notes about moments of a run, kept in its recording's folder. */
import { aloneWithNotes, readNotes, writeNotes } from '../../formats/notes.ts';
import { byTime, MOST_NOTES, NOTES_FILE, type Note, noteFault } from '../../model/note.ts';
import { flag, float, int } from '../../model/option.ts';
import { RecordingError } from '../../model/recording.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { recordingInfo } from '../recording-info.ts';
import { oneLine } from '../terminal.ts';

const OPTIONS = {
  until: float(
    0,
    'end of the time span that the note is about; seconds since the recording’s start',
    {
      fallback: 'about the moment TIME',
    },
  ),
  remove: int(1, 'remove a note, by its number in the list', {
    min: 1,
    max: MOST_NOTES,
    fallback: 'none',
  }),
  json: flag(false, 'print the notes as one list: time, until, text'),
};

/** The notes of a recording, in the order of the list. @throws RecordingError where the folder is no recording, or its notes cannot be read */
function notesIn(folder: string): readonly Note[] {
  if (recordingInfo(folder) === null)
    throw new RecordingError(`${folder}: is not a recording’s folder: only recordings keep notes`);
  try {
    return readNotes(folder);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    throw new RecordingError(`${folder}/${NOTES_FILE}: ${error.message}; correct or remove it`);
  }
}

/** @throws UsageError where it cannot be one */
function noteOf([time, ...texts]: readonly string[], until: number | undefined): Note {
  const seconds = time.trim() === '' ? Number.NaN : Number(time);
  const note = {
    time: seconds,
    ...(until !== undefined && { until }),
    text: texts.join(' '),
  };
  if (!Number.isFinite(seconds))
    throw new UsageError(`TIME ${time}: must be the number of seconds since the recording’s start`);
  if (texts.length === 0) throw new UsageError('TEXT is missing: what should the note say?');
  const fault = noteFault(note);
  if (fault !== '') throw new UsageError(`the note’s ${fault}`);
  return note;
}

/** The notes that the folder is to hold; null: they do not change. @throws UsageError */
function changed(
  notes: readonly Note[],
  words: readonly string[],
  { until, remove }: Call<typeof OPTIONS, null>['given'],
): readonly Note[] | null {
  if (remove !== undefined) {
    if (words.length > 0 || until !== undefined)
      throw new UsageError('--remove excludes TIME, TEXT and --until');
    if (remove > notes.length)
      throw new UsageError(`--remove=${remove}: there are ${notes.length} notes`);
    return notes.filter((_, k) => k + 1 !== remove);
  }
  if (words.length === 0) {
    if (until !== undefined) throw new UsageError('--until needs TIME and TEXT');
    return null;
  }
  if (notes.length >= MOST_NOTES)
    throw new UsageError(`a recording keeps at most ${MOST_NOTES} notes: remove one`);
  return [...notes, noteOf(words, until)].sort(byTime);
}

const lineOf = ({ time, until, text }: Note, k: number): string =>
  `${k + 1}\t${time}${until === undefined ? '' : ` to ${until}`} s\t${oneLine(text)}\n`;

/** Changes the list where it is to be changed, and prints it. Returns the exit code. @throws UsageError, RecordingError */
async function run({ words: [folder, ...rest], given }: Call<typeof OPTIONS, null>) {
  const look = () => {
    const before = notesIn(folder);
    const next = changed(before, rest, given);
    if (next !== null) writeNotes(folder, next);
    return next ?? before;
  };
  const isList = rest.length === 0 && given.remove === undefined;
  // Whoever only lists notes may have no rights to write. A folder that is no recording is refused.
  const notes =
    isList || recordingInfo(folder) === null ? look() : await aloneWithNotes(folder, look);
  process.stdout.write(
    given.json === true ? `${JSON.stringify(notes)}\n` : notes.map(lineOf).join(''),
  );
  return 0;
}

export const annotate = command({
  about:
    'Keeps notes about moments of a run in its recording’s folder (notes.json), and prints them with their numbers. They are flags on the time axis of the page, and rows of table note.\n\nThe page itself writes nothing.',
  arguments: [
    { name: 'PATH', help: 'a recording’s folder', names: 'input', noun: 'recording' },
    { name: 'TIME', help: 'seconds since the recording’s start, as column t', optional: true },
    { name: 'TEXT', help: 'the note, in one line', optional: true, many: true },
  ],
  options: OPTIONS,
  examples: [
    'annotate run.tri 1.5 the file server was restarted',
    'annotate run.tri 2 backup --until=3.5',
    'annotate run.tri --remove=1',
  ],
  run,
});
