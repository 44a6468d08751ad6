/** Numbers of a recording with their errors, by entity: one statement a table. */
import type { OpenRecording } from '../../query/index.ts';
import { BLOCKS, type Estimate, errorOf } from './noise.ts';

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

interface Row {
  readonly [column: string]: unknown;
}

const list = (measures: readonly Measure[], one: (measure: Measure, k: number) => string) =>
  measures.map(one).join(', ');

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
  const value = ({ per }: Measure, k: number) =>
    per === 'total' ? `any_value(total${k})` : `any_value(ratio${k})`;
  const scale = ({ per }: Measure, k: number) => (per === 'total' ? `* any_value(below${k})` : '');
  const blocks = (k: number) => `count(*) FILTER (d${k} > 0)`;
  return `WITH sample AS MATERIALIZED (${sql}),
lane_count AS (SELECT host, entity, count(DISTINCT lane) AS lanes FROM sample GROUP BY ALL),
extent AS (SELECT min(t) AS first, nullif(max(t) - min(t), 0) AS span FROM sample),
placed AS (
  SELECT *, least(${BLOCKS - 1}, coalesce(floor((t - first) / span * ${BLOCKS}), 0)) AS block FROM sample, extent),
block AS (
  SELECT p.host, p.entity, block, ${list(measures, (one, k) => `sum(${upper(one)})::DOUBLE AS n${k}, sum(${lower(one)})::DOUBLE AS d${k}`)}
  FROM placed p JOIN lane_count l ON l.host IS NOT DISTINCT FROM p.host AND l.entity = p.entity
  GROUP BY ALL),
whole AS MATERIALIZED (
  SELECT *, ${list(
    measures,
    (_, k) => `sum(n${k}) OVER w AS total${k}, sum(d${k}) OVER w AS below${k},
    sum(n${k}) OVER w / nullif(sum(d${k}) OVER w, 0) AS ratio${k}`,
  )}
  FROM block WINDOW w AS (PARTITION BY host, entity))
SELECT host, entity, ${list(
    measures,
    (one, k) => `${value(one, k)} AS v${k}, ${blocks(k)} AS k${k},
  sqrt(${blocks(k)} / nullif(${blocks(k)} - 1, 0) * sum((n${k} - ratio${k} * d${k}) ** 2)
    FILTER (d${k} > 0)) / any_value(below${k}) ${scale(one, k)} AS e${k},
  list(n${k} / nullif(d${k}, 0) ORDER BY block) AS c${k}`,
  )}
FROM whole GROUP BY host, entity ORDER BY host, entity`;
}

/** Measures that one statement asks for: planning takes longer than twice as long for twice as many. */
const AT_ONCE = 32;

/** Those that have a value, entity by entity. */
export async function measured(recording: OpenRecording, samples: Samples): Promise<Measured[]> {
  const all: Measured[] = [];
  for (let from = 0; from < samples.measures.length; from += AT_ONCE) {
    const measures = samples.measures.slice(from, from + AT_ONCE);
    for (const row of await recording.query<Row>(statement({ ...samples, measures }))) {
      for (const [k, measure] of measures.entries()) {
        const one = measuredOf(row, measure, k);
        if (one !== null) all.push(one);
      }
    }
  }
  return all;
}

function measuredOf(row: Row, { key, unit }: Measure, k: number): Measured | null {
  const value = row[`v${k}`];
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const blocks = Number(row[`k${k}`]);
  return {
    ...{ host: row.host as string | null, entity: row.entity as string, key, unit, value, blocks },
    error: errorOf(row[`e${k}`] as number | null, blocks),
    course: row[`c${k}`] as (number | null)[],
  };
}
