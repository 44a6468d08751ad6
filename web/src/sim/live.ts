/** What a page keeps of a run that goes on, for the simulation's pictures. */
import { SeriesStore } from '../../../src/live/series/store.ts';
import { CascadeIndex } from '../../../src/live/simulation/cascades.ts';
import { ROLLBACK_COLUMNS, Rollbacks } from '../../../src/live/simulation/rollbacks.ts';
import type { RawColumn } from '../../../src/formats/frames/table.ts';
import type { Batch, Schema } from '../../../src/model/metric.ts';

/** Rows kept of each PE or KP, and rollbacks: the newest. */
const MOST_ROWS = 4000;
const MOST_ROLLBACKS = 100_000;
/** LPs are too many to keep; they are shown when the run has ended. */
const KEPT = ['ross_pe', 'ross_kp'];
const ROLLBACK = 'ross_rollback';

export class LiveSimulation {
  samples = new SeriesStore(MOST_ROWS);
  rollbacks = new Rollbacks(MOST_ROLLBACKS);
  #cascades: CascadeIndex | null = null;

  wants({ name }: Schema): boolean {
    return KEPT.includes(name) || name === ROLLBACK;
  }

  take(batch: Batch): void {
    const { schema, columns, length } = batch;
    if (KEPT.includes(schema.name)) this.samples.add(batch);
    if (schema.name !== ROLLBACK) return;
    const at = (key: string) => schema.metrics.findIndex((metric) => metric.key === key);
    const numbers = ROLLBACK_COLUMNS.map((key) => (columns[at(key)] ?? null) as RawColumn | null);
    const causes = columns[at('cause')] as readonly string[] | undefined;
    this.rollbacks.add(numbers, (row) => causes?.[row] ?? '', length, 0);
    this.#cascades = null;
  }

  /** Cascades of the rollbacks that are kept. */
  cascades(): CascadeIndex {
    this.#cascades ??= new CascadeIndex(this.rollbacks);
    return this.#cascades;
  }

  /** The stream begins anew. */
  clear(): void {
    this.samples = new SeriesStore(MOST_ROWS);
    this.rollbacks = new Rollbacks(MOST_ROLLBACKS);
    this.#cascades = null;
  }
}
