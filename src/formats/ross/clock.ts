/**
 * ROSS's real times on the wall clock. Its files count cycles over `--clock-rate` (10⁹ a second unless told), from the
 * machine's start or from the run's: they say neither that nor how fast the counter is. A note of counter and wall clock
 * at two moments says both.
 */
import type { Batch } from '../../model/metric.ts';
import { batchesOf, type Part, timeColumnOf } from '../part.ts';

/** A rank's cycle counter and wall clock at MPI_Init and, where it came so far, at MPI_Finalize. */
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

/** `--clock-rate` unless told. */
export const CLOCK_RATE = 1e9;

/** Of the text that the MPI shim writes, lines `rank process cycles wall`; null where a moment is missing. */
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

/** Cycles a second. */
export const cyclesPerSecond = ({ start, end }: ClockNote): number =>
  (1e9 * Number(end.cycles - start.cycles)) / Number(end.wall - start.wall);

/** A tenth more than the run: counters that begin with it do not reach those of the machine. */
const SLACK = 1.1;

/**
 * Seconds on the recording's timeline of a real time in a file. Which zero it counts from follows from its size: a count
 * from the run's start is at most as long as the run.
 * @param zero nanoseconds since 1970 of the timeline's 0
 */
export function alignedTime(real: number, note: ClockNote, rate: number, zero: bigint): number {
  const { start, end } = note;
  const perSecond = cyclesPerSecond(note);
  const cycles = real * rate;
  const own = cycles <= SLACK * Number(end.cycles - start.cycles);
  const since = own ? cycles : cycles - Number(start.cycles);
  return Number(start.wall - zero) / 1e9 + since / perSecond;
}

/** Columns that are times in the file's seconds, beside the time of the sample itself. */
const VIRTUAL = /virtual|gvt$/;

/**
 * The rows of a part with their real times on the recording's timeline, and durations in true seconds. Rows of PEs
 * without a note go by the first one's.
 */
export function* alignedBatches(
  part: Part,
  notes: readonly ClockNote[],
  rate: number,
  zero: bigint,
): Generator<Batch, void, undefined> {
  const { metrics } = part.schema;
  const time = timeColumnOf(part.schema);
  const pe = metrics.findIndex(({ key }) => key === 'pe_id');
  if (time === null || notes.length === 0) return;
  const byRank = new Map(notes.map((note) => [note.rank, note]));
  const factors = new Map(notes.map((note) => [note, rate / cyclesPerSecond(note)]));
  for (const batch of batchesOf(part)) {
    const noteOf = (row: number) =>
      (pe < 0 ? undefined : byRank.get(Number(batch.columns[pe][row]))) ?? notes[0];
    const columns = batch.columns.map((column, k) => {
      const { unit, key } = metrics[k];
      if (k === time) {
        return Float64Array.from(column as Float64Array, (real, row) =>
          alignedTime(real, noteOf(row), rate, zero),
        );
      }
      const isDuration = unit === 's' && !VIRTUAL.test(key);
      if (!isDuration || !(column instanceof Float32Array)) return column;
      return column.map((value, row) => value * (factors.get(noteOf(row)) ?? 1));
    });
    yield { ...batch, columns };
  }
}
