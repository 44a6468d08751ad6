/** Numbers of a recording by entity, as sums over equal parts of its time: one statement per table. */
import type { Measure as Declared } from '../../model/measures/index.ts';
import type { Value } from '../../model/row.ts';
import type { OpenRecording } from '../../query/index.ts';

/** Which way is good; null where neither is. */
export type Good = Declared['good'];

/** Stretches of a run. */
export const BLOCKS = 20;

/** A number to be asked for: the ratio of two sums over samples. */
export interface ComparedMeasure {
  /** Which way is good, as it is declared; absent where neither is. */
  readonly good?: Good;
  readonly key: string;
  readonly unit: string;
  /** SQL of a sample's contribution to the numerator, over the columns of `Samples.sql`. */
  readonly count: string;
  /** SQL of its contribution to the denominator; 'second': the time since the sample before; 'total': there is no denominator. */
  readonly per: string;
  /** Whether it is estimated from randomly chosen moments. A moment without a CPU then counts for many, so stretches do not tell its error. */
  readonly isSampled?: boolean;
}

/** Samples to measure. */
export interface Samples {
  /** A statement with columns `host`, `entity`, `lane`, `t`, `seconds` (since the lane's sample before, or null) and more. */
  readonly sql: string;
  /** How several lanes of an entity are combined: rates are added, or averaged. */
  readonly lanes: 'sum' | 'mean';
  /** SQL of a sample's work. Totals are proportional to it, so their error is that of their ratio to it. */
  readonly work?: string;
  readonly measures: readonly ComparedMeasure[];
}

/** Sums of a number's samples by stretch of the recording. */
export interface Stretches {
  /** By stretch with samples: its number, 0 to `BLOCKS` − 1. */
  readonly numbers: readonly number[];
  /** The upper and the lower sum of each; NaN where there is none. */
  readonly counts: ArrayLike<number>;
  readonly per: ArrayLike<number>;
  /** Seconds of the timeline: where stretch 0 begins, and how long each is. */
  readonly from: number;
  readonly length: number;
  /** Whether the number is the sum of all numerators instead of a ratio. */
  readonly isTotal: boolean;
  /** Whether the scatter of stretches does not tell its error. */
  readonly isSampled: boolean;
}

export interface Measured {
  readonly good?: Good;
  /** Null where it belongs to no host. */
  readonly host: string | null;
  /** Such as `PE 1`; '' for all of the recording. */
  readonly entity: string;
  readonly key: string;
  readonly unit: string;
  /** A plain number where there are no samples, as in a report. */
  readonly samples: Stretches | number;
}

/** When a table's samples begin, and how long they go on. */
export const EXTENT = 'min(t) AS first, nullif(max(t) - min(t), 0) AS span';
/** In which stretch a sample is. */
export const BLOCK = `least(${BLOCKS - 1}, coalesce(floor((t - first) / span * ${BLOCKS}), 0)) AS block`;

/** Sums of each measure's parts by stretch, n0, d0, n1, … after host, entity, stretch, and where stretches begin and how long they are. */
function statement({ sql, lanes, measures, work = 'seconds' }: Samples): string {
  const divided = lanes === 'sum' ? ' / lanes' : '';
  const lower = ({ per, count }: ComparedMeasure) => {
    if (per === 'total') return work;
    return per === 'second'
      ? `CASE WHEN seconds > 0 AND (${count}) IS NOT NULL THEN seconds${divided} END`
      : per;
  };
  // A sample of unknown duration counts in totals, but in no rate.
  const upper = ({ per, count }: ComparedMeasure) =>
    per === 'second' ? `CASE WHEN seconds > 0 THEN ${count} END` : count;
  const sums = measures.flatMap((one) => [`sum(${upper(one)})`, `sum(${lower(one)})`]);
  return `WITH sample AS MATERIALIZED (${sql}),
lane_count AS (SELECT host, entity, count(DISTINCT lane) AS lanes FROM sample GROUP BY ALL),
extent AS (SELECT ${EXTENT} FROM sample),
placed AS (SELECT s.*, first, span, ${BLOCK}, lanes
  FROM sample s, extent JOIN lane_count l ON l.host IS NOT DISTINCT FROM s.host AND l.entity = s.entity)
SELECT host, entity, block, first, span / ${BLOCKS} AS length, ${sums.map((sum) => `${sum}::DOUBLE`).join(', ')}
FROM placed GROUP BY ALL ORDER BY host, entity, block`;
}

/** Measures per statement: the time for planning grows faster than their number. */
const AT_ONCE = 128;
/** Columns before the sums. */
const HEAD = 5;

/** All of them, entity by entity. */
export async function* measured(
  recording: OpenRecording,
  samples: Samples,
): AsyncGenerator<Measured, void, undefined> {
  for (let from = 0; from < samples.measures.length; from += AT_ONCE) {
    const measures = samples.measures.slice(from, from + AT_ONCE);
    /** Stretches of one entity. */
    let stretches: (readonly Value[])[] = [];
    const { blocks } = await recording.rows(statement({ ...samples, measures }));
    for await (const rows of blocks) {
      for (const row of rows) {
        const [last = row] = stretches;
        if (last[0] !== row[0] || last[1] !== row[1]) {
          yield* entityOf(stretches, measures);
          stretches = [];
        }
        stretches.push(row);
      }
    }
    if (stretches.length > 0) yield* entityOf(stretches, measures);
  }
}

function entityOf(stretches: readonly (readonly Value[])[], measures: readonly ComparedMeasure[]) {
  const numbers = column(stretches, 2);
  return measures.map((measure, k) => measuredOf(stretches, numbers, measure, k));
}

const column = (rows: readonly (readonly Value[])[], at: number) =>
  rows.map((row) => (row[at] as number | null) ?? Number.NaN);

function measuredOf(
  stretches: readonly (readonly Value[])[],
  numbers: readonly number[],
  { key, unit, good = null, per, isSampled = false }: ComparedMeasure,
  k: number,
): Measured {
  const [[host, entity, , from, length]] = stretches;
  return {
    ...{ host: host as string | null, entity: entity as string, key, unit, good },
    samples: {
      numbers,
      counts: column(stretches, HEAD + 2 * k),
      per: column(stretches, HEAD + 2 * k + 1),
      from: (from as number | null) ?? 0,
      length: (length as number | null) ?? 0,
      isTotal: per === 'total',
      isSampled,
    },
  };
}
