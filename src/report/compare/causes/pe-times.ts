/** What PEs spent their time on, from their samples. */
import {
  ACTIVITIES,
  BEYOND,
  inputsOf,
  type Settled,
  settledSql,
} from '../../../model/measures/index.ts';
import { type OpenRecording, quoteText, type Row } from '../../../query/index.ts';
import type { Has } from '../../tables.ts';
import { GrowingCourse, type LaneTimes, type TimePart, type Times } from './lanes.ts';

const REST: TimePart = { key: 'rest', label: 'waiting and not timed', isWait: true };

/**
 * Null where no times of PEs were recorded, or their clock stood still.
 * @param took seconds that the run says it took: its PEs began so long before the last sample. Null where it does not say:
 * then what was before a PE's first sample is left out
 */
export async function peTimes(
  recording: OpenRecording,
  has: Has,
  took: number | null,
): Promise<Times | null> {
  const there = (column: string) => has(`ross_pe.${column}`);
  const activities = ACTIVITIES.filter((one) => inputsOf(one).every(there));
  if (!['pe_id', 't', 'mode'].every(there) || activities.length === 0) return null;
  const [settled] = await recording.query<Settled & Row>(settledSql('ross_pe', true));
  if (settled?.moves !== true) return null;
  const samples = `mode = ${quoteText(settled.mode)} AND isfinite(t)`;
  const [{ first, end }] = await recording.query<{ first: number; end: number }>(
    `SELECT min(t)::DOUBLE AS first, max(t)::DOUBLE AS "end" FROM ross_pe WHERE ${samples}`,
  );
  const begin = took === null ? null : Math.min(first, end - took);
  const sums = activities.map((one) =>
    inputsOf(one)
      .map((column) => `coalesce(${column}, 0)::DOUBLE`)
      .join(' + '),
  );
  const progress = there('gvt')
    ? `CASE WHEN gvt >= 0 AND gvt < ${BEYOND} THEN gvt::DOUBLE END`
    : 'NULL::DOUBLE';
  const { batches } = await recording.columns(
    `SELECT pe_id::DOUBLE, t::DOUBLE, ${progress}, ${sums.join(', ')}
    FROM ross_pe WHERE ${samples} ORDER BY pe_id, t`,
  );
  const lanes: LaneTimes[] = [];
  let wall = 0;
  let open: Reader | null = null;
  for await (const { rows, columns } of batches) {
    const [pes, times, gvts, ...spent] = columns as Float64Array[];
    for (let row = 0; row < rows; row++) {
      if (open?.pe !== pes[row]) {
        if (open !== null) lanes.push(open.lane());
        open = new Reader(pes[row], activities.length, begin);
      }
      open.take(times[row], gvts[row], spent, row);
      wall = Math.max(wall, open.seconds);
    }
  }
  if (open !== null) lanes.push(open.lane());
  const parts = [...activities.map(({ key, label }) => ({ key, label, isWait: false })), REST];
  return { kind: 'PE', progress: 'virtual time', parts, lanes, wall };
}

/** Adds up the samples of a PE. */
class Reader {
  readonly pe: number;
  seconds = 0;
  private readonly growing = new GrowingCourse();
  /** By activity, then the rest. */
  private readonly spent: number[];
  private time: number | null;
  /** Stays 0 where virtual times are not known: then moments are matched by real ones. */
  private progress = 0;

  constructor(pe: number, activities: number, begin: number | null) {
    this.pe = pe;
    this.time = begin;
    this.spent = new Array<number>(activities + 1).fill(0);
  }

  take(time: number, gvt: number, columns: readonly Float64Array[], row: number): void {
    // A time after the last GVT is no progress; nor is one that falls.
    if (gvt > this.progress) this.progress = gvt;
    if (this.time !== null) {
      const span = time - this.time;
      this.seconds += span;
      let rest = span;
      for (let k = 0; k < columns.length; k++) {
        this.spent[k] += columns[k][row];
        rest -= columns[k][row];
      }
      // Some activities are estimated from timed samples, which may exceed what there was: then this falls.
      this.spent[columns.length] += rest;
    }
    this.time = time;
    this.growing.add(time, this.progress, this.spent);
  }

  lane(): LaneTimes {
    const course = this.growing.end(this.time ?? 0, this.progress, this.spent);
    return { name: `PE ${this.pe}`, seconds: this.seconds, course };
  }
}
