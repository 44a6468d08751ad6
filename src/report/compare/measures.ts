/** Numbers of a recording with their errors, by entity: one statement a table. */

import type { Value } from '../../model/row.ts';
import type { OpenRecording } from '../../query/index.ts';
import { BLOCKS, type Estimate, ratioOf } from './noise.ts';

/** A number to be asked for: the ratio of two sums over samples. */
export interface Measure {
  readonly key: string;
  readonly unit: string;
  /** SQL of a sample's part of the upper sum, over the columns of `Samples.sql`. */
  readonly count: string;
  /** SQL of its part of the lower sum; 'second': the time since the sample before; 'total': a sum. */
  readonly per: string;
}

/** Samples to measure. */
export interface Samples {
  /** A statement with columns `host`, `entity`, `lane`, `t`, `seconds` (since the lane's sample before, or null) and more. */
  readonly sql: string;
  /** Of several lanes of an entity: rates add up, or are those of a lane on average. */
  readonly lanes: 'sum' | 'mean';
  /** SQL of a sample's work, which totals are in proportion to: their error is that of their ratio to it. */
  readonly work?: string;
  readonly measures: readonly Measure[];
}

export interface Measured extends Estimate {
  /** Null where it is of no host's. */
  readonly host: string | null;
  /** Such as `PE 1`; '' for all of the recording. */
  readonly entity: string;
  readonly key: string;
  readonly unit: string;
  /** The same by stretch; null where there is none. */
  readonly course: readonly (number | null)[];
}

/** Sums of each measure's parts by stretch, n0, d0, n1, … behind host, entity and stretch. */
function statement({ sql, lanes, measures, work = 'seconds' }: Samples): string {
  const divided = lanes === 'sum' ? ' / lanes' : '';
  const lower = ({ per, count }: Measure) => {
    if (per === 'total') return work;
    return per === 'second'
      ? `CASE WHEN seconds > 0 AND (${count}) IS NOT NULL THEN seconds${divided} END`
      : per;
  };
  // A sample whose time is not known counts in totals, and in no rate.
  const upper = ({ per, count }: Measure) =>
    per === 'second' ? `CASE WHEN seconds > 0 THEN ${count} END` : count;
  const sums = measures.flatMap((one) => [`sum(${upper(one)})`, `sum(${lower(one)})`]);
  return `WITH sample AS MATERIALIZED (${sql}),
lane_count AS (SELECT host, entity, count(DISTINCT lane) AS lanes FROM sample GROUP BY ALL),
extent AS (SELECT min(t) AS first, nullif(max(t) - min(t), 0) AS span FROM sample),
placed AS (
  SELECT *, least(${BLOCKS - 1}, coalesce(floor((t - first) / span * ${BLOCKS}), 0)) AS block FROM sample, extent)
SELECT p.host, p.entity, block, ${sums.map((sum) => `${sum}::DOUBLE`).join(', ')}
FROM placed p JOIN lane_count l ON l.host IS NOT DISTINCT FROM p.host AND l.entity = p.entity
GROUP BY ALL ORDER BY ALL`;
}

/** Measures that one statement asks for: planning takes longer than twice as long for twice as many. */
const AT_ONCE = 128;
/** Columns before the sums. */
const HEAD = 3;

/** Those that have a value, entity by entity. */
export async function measured(recording: OpenRecording, samples: Samples): Promise<Measured[]> {
  const all: Measured[] = [];
  for (let from = 0; from < samples.measures.length; from += AT_ONCE) {
    const measures = samples.measures.slice(from, from + AT_ONCE);
    /** Stretches of one entity. */
    let stretches: (readonly Value[])[] = [];
    const finish = () => {
      all.push(...measures.flatMap((measure, k) => measuredOf(stretches, measure, k) ?? []));
      stretches = [];
    };
    const { blocks } = await recording.rows(statement({ ...samples, measures }));
    for await (const rows of blocks) {
      for (const row of rows) {
        const [last = row] = stretches;
        if (last[0] !== row[0] || last[1] !== row[1]) finish();
        stretches.push(row);
      }
    }
    if (stretches.length > 0) finish();
  }
  return all;
}

function measuredOf(
  stretches: readonly (readonly Value[])[],
  { key, unit, per }: Measure,
  k: number,
): Measured | null {
  const sums = (column: number) => stretches.map((row) => row[column] as number | null);
  const { total, ratio, course } = ratioOf(sums(HEAD + 2 * k), sums(HEAD + 2 * k + 1));
  const estimate = per === 'total' ? total : ratio;
  if (estimate === null || !Number.isFinite(estimate.value)) return null;
  const [[host, entity]] = stretches;
  return { host: host as string | null, entity: entity as string, key, unit, ...estimate, course };
}
