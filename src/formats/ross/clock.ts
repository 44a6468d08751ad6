/**
 * ROSS's real times on the wall clock. Its files hold cycles divided by `--clock-rate` (10⁹ per second by default), from the
 * machine's start or from the run's; they tell neither which, nor how fast the counter runs. A note of counter and wall clock
 * at two moments tells both.
 */
import type { Batch, Metric } from '../../model/metric.ts';
import { timeColumnOf } from '../part.ts';

/** A rank's cycle counter and wall clock at MPI_Init, and at the last moment that was noted: MPI_Finalize, if the run got that far. */
export interface ClockNote {
  readonly rank: number;
  readonly process: number;
  /** Cycles, and nanoseconds since 1970. */
  readonly start: ClockMoment;
  readonly end: ClockMoment;
}

export interface ClockMoment {
  readonly cycles: bigint;
  readonly wall: bigint;
}

/** The default of `--clock-rate`. */
export const CLOCK_RATE = 1e9;

/** Parses the text that the MPI shim writes, lines `rank process cycles wall`; null if a moment is missing. */
export function readClockNote(text: string): ClockNote | null {
  const moments = Array.from(text.matchAll(/^(\d+) (\d+) (\d+) (\d+)$/gm), (match) =>
    match.slice(1),
  );
  const [first] = moments;
  const last = moments[moments.length - 1];
  if (moments.length < 2 || last[0] !== first[0] || last[1] !== first[1]) return null;
  const of = ([, , cycles, wall]: string[]) => ({ cycles: BigInt(cycles), wall: BigInt(wall) });
  const note = {
    rank: Number(first[0]),
    process: Number(first[1]),
    start: of(first),
    end: of(last),
  };
  const advances = note.end.cycles > note.start.cycles && note.end.wall > note.start.wall;
  return advances ? note : null;
}

/** Cycles per second. */
export const cyclesPerSecond = ({ start, end }: ClockNote): number =>
  (1e9 * Number(end.cycles - start.cycles)) / Number(end.wall - start.wall);

/** Times of traced events have 24 bits: they may be too early by this much. */
const ROUNDED = 1 - 1e-6;

/**
 * Seconds on the recording's timeline of a real time in a file. From which zero it counts follows from its size: a count
 * from the machine's start is beyond the first note's, a count from the run's start is not, unless the machine is younger.
 * @param zero nanoseconds since 1970 of the timeline's 0
 */
export function alignedTime(real: number, note: ClockNote, rate: number, zero: bigint): number {
  const { start } = note;
  const perSecond = cyclesPerSecond(note);
  const cycles = real * rate;
  const since = cycles < ROUNDED * Number(start.cycles) ? cycles : cycles - Number(start.cycles);
  return Number(start.wall - zero) / 1e9 + since / perSecond;
}

/** Columns that are times in the file's seconds, beside the time of the sample itself. */
const VIRTUAL = /virtual|gvt$/;

/** Whether a column holds times in the file's seconds, beside the time of the sample itself. */
const isDuration = ({ unit, key }: Metric): boolean => unit === 's' && !VIRTUAL.test(key);

/**
 * Rows of a file with their real times on the recording's timeline, and durations in true seconds. Rows of PEs without a note
 * use the first one's. Null if they have no real time, or there is no note.
 */
export function alignedBatch(
  batch: Batch,
  notes: readonly ClockNote[],
  rate: number,
  zero: bigint,
): Batch | null {
  const { metrics } = batch.schema;
  const time = timeColumnOf(batch.schema);
  const pe = metrics.findIndex(({ key }) => key === 'pe_id');
  if (time === null || notes.length === 0) return null;
  const byRank = new Map(notes.map((note) => [note.rank, note]));
  const factors = new Map(notes.map((note) => [note, rate / cyclesPerSecond(note)]));
  const noteOf = (row: number) =>
    (pe < 0 ? undefined : byRank.get(Number(batch.columns[pe][row]))) ?? notes[0];
  const columns = batch.columns.map((column, k) => {
    if (k === time) {
      return Float64Array.from(column as Float64Array, (real, row) =>
        alignedTime(real, noteOf(row), rate, zero),
      );
    }
    if (!isDuration(metrics[k]) || !(column instanceof Float32Array)) return column;
    return column.map((value, row) => value * (factors.get(noteOf(row)) ?? 1));
  });
  return { ...batch, columns };
}
