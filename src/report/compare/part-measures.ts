/**
 * Numbers of thousands of entities that are sampled together: their samples are summed up here as they are read, in a few MB.
 * Grouped by DuckDB they would take hundreds.
 */
import type { Weights } from '../../model/measures/index.ts';
import type { OpenRecording } from '../../query/index.ts';
import type { Known } from './known.ts';
import { BLOCK, BLOCKS, EXTENT, type Measured } from './measures.ts';

export interface PartSamples {
  /** A statement with the columns PE, time (DOUBLE), number of the entity, and `columns` (DOUBLE). */
  readonly sql: string;
  /** A statement with columns `pe_id`, `t` and `seconds` since the PE's sample before, or null: a row for each time of a PE. */
  readonly moments: string;
  readonly columns: readonly string[];
  readonly known: readonly Known[];
  readonly nameOf: (entity: number) => string;
  /** What totals are in proportion to: their error is that of their ratio to it. */
  readonly work: Weights | 'seconds' | 'samples';
}

interface Moment {
  readonly block: number;
  readonly seconds: number;
}

interface Moments {
  readonly from: number;
  readonly length: number;
  /** By PE and time. */
  readonly at: ReadonlyMap<number, ReadonlyMap<number, Moment>>;
}

async function momentsOf(recording: OpenRecording, moments: string): Promise<Moments> {
  const at = new Map<number, Map<number, Moment>>();
  let extent = { from: 0, length: 0 };
  const { batches } = await recording.columns(
    `WITH moment AS MATERIALIZED (${moments}), extent AS (SELECT ${EXTENT} FROM moment)
SELECT pe_id::FLOAT, t::DOUBLE, seconds::DOUBLE, ${BLOCK}, first::DOUBLE, (span / ${BLOCKS})::DOUBLE
FROM moment, extent`,
  );
  for await (const { rows, columns } of batches) {
    const [pes, times, seconds, blocks, from, length] = columns as Float64Array[];
    extent = { from: from[0] || 0, length: length[0] || 0 };
    for (let row = 0; row < rows; row++) {
      if (Number.isNaN(times[row])) continue;
      const ofPe = at.get(pes[row]) ?? new Map<number, Moment>();
      at.set(pes[row], ofPe);
      ofPe.set(times[row], { block: Number(blocks[row]), seconds: seconds[row] });
    }
  }
  return { ...extent, at };
}

/** A weighed sum of columns. */
interface Weighed {
  readonly places: readonly number[];
  readonly weights: readonly number[];
}

/** A number's parts of the two sums, by columns. */
interface Parts {
  readonly factor: number;
  readonly of: Weighed;
  readonly per: Weighed | 'second' | 'sample';
  /** Whether samples of unknown time are left out. */
  readonly isRate: boolean;
}

function partsOf({ known, columns, work }: PartSamples): readonly Parts[] {
  const weighed = (weights: Weights): Weighed => ({
    places: Object.keys(weights).map((key) => columns.indexOf(key)),
    weights: Object.values(weights),
  });
  const lower = (per: Known['per']): Parts['per'] => {
    if (per === 'second' || per === 'sample') return per;
    if (per !== 'total') return weighed(per);
    return typeof work !== 'string' ? weighed(work) : work === 'seconds' ? 'second' : 'sample';
  };
  return known.map(({ factor, of, per }) => ({
    ...{ factor, of: weighed(of), per: lower(per), isRate: per === 'second' },
  }));
}

function weighedSum(
  { places, weights }: Weighed,
  columns: readonly Float64Array[],
  row: number,
): number {
  let value = 0;
  for (let k = 0; k < places.length; k++) value += weights[k] * columns[places[k]][row];
  return value;
}

/** The sums n0, d0, n1, … of an entity, each by stretch: NaN where no sample has them. */
class Sums {
  private readonly values: Float64Array;

  constructor(sums: number) {
    this.values = new Float64Array(BLOCKS * sums).fill(Number.NaN);
  }

  add(block: number, place: number, value: number): void {
    if (Number.isNaN(value)) return;
    const at = place * BLOCKS + block;
    const before = this.values[at];
    this.values[at] = Number.isNaN(before) ? value : before + value;
  }

  copy(place: number, into: Float64Array): void {
    const from = place * BLOCKS;
    for (let block = 0; block < BLOCKS; block++) into[block] = this.values[from + block];
  }
}

const ALL_BLOCKS = Array.from({ length: BLOCKS }, (_, block) => block);

async function summed(
  recording: OpenRecording,
  samples: PartSamples,
  { at }: Moments,
): Promise<Map<number, Sums>> {
  const parts = partsOf(samples);
  const found = new Map<number, Sums>();
  const { batches } = await recording.columns(samples.sql);
  for await (const { rows, columns } of batches) {
    const [pes, times, entities, ...values] = columns as Float64Array[];
    let [pe, time] = [Number.NaN, Number.NaN];
    let moment: Moment | undefined;
    for (let row = 0; row < rows; row++) {
      if (pes[row] !== pe || times[row] !== time) {
        [pe, time] = [pes[row], times[row]];
        moment = at.get(pe)?.get(time);
      }
      if (moment === undefined) continue;
      const { block, seconds } = moment;
      let sums = found.get(entities[row]);
      if (sums === undefined) {
        sums = new Sums(2 * parts.length);
        found.set(entities[row], sums);
      }
      for (let k = 0; k < parts.length; k++) {
        const { factor, of, per, isRate } = parts[k];
        if (isRate && !(seconds > 0)) continue;
        const count = factor * weighedSum(of, values, row);
        sums.add(block, 2 * k, count);
        if (per === 'second') {
          if (!Number.isNaN(count)) sums.add(block, 2 * k + 1, seconds);
        } else if (per === 'sample') {
          if (!Number.isNaN(count)) sums.add(block, 2 * k + 1, 1);
        } else sums.add(block, 2 * k + 1, weighedSum(per, values, row));
      }
    }
  }
  return found;
}

/** All of them, entity by entity, in the order of their numbers. The sums of one are overwritten by those of the next. */
export async function* measuredParts(
  recording: OpenRecording,
  samples: PartSamples,
): AsyncGenerator<Measured, void, undefined> {
  const moments = await momentsOf(recording, samples.moments);
  const found = await summed(recording, samples, moments);
  const { from, length } = moments;
  const [counts, below] = [new Float64Array(BLOCKS), new Float64Array(BLOCKS)];
  for (const [entity, sums] of [...found].sort(([a], [b]) => a - b)) {
    const name = samples.nameOf(entity);
    for (const [k, { key, unit, good, per, isSampled = false }] of samples.known.entries()) {
      sums.copy(2 * k, counts);
      sums.copy(2 * k + 1, below);
      const isTotal = per === 'total';
      const stretches = {
        numbers: ALL_BLOCKS,
        counts,
        per: below,
        from,
        length,
        isTotal,
        isSampled,
      };
      yield { host: null, entity: name, key, unit, good, samples: stretches };
    }
  }
}
