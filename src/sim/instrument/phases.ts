/** What PEs have marked on their region pages. */
import type { Batch } from '../../model/metric.ts';
import { RegionPage } from '../../model/region-page.ts';
import { PHASES, REGION_PHASE } from '../../model/schemas/sim.ts';

/** One sample of all pages, by PE. */
export function phaseBatch(pages: readonly (SharedArrayBuffer | null)[], real: number): Batch {
  const rows = pages.flatMap((memory, pe) =>
    memory === null ? [] : new RegionPage(memory).totals(PHASES).map((total) => ({ pe, ...total })),
  );
  return {
    schema: REGION_PHASE,
    rows: rows.length,
    columns: [
      new Float64Array(rows.length).fill(real),
      Uint32Array.from(rows, (r) => r.pe),
      rows.map((r) => r.name),
      Uint32Array.from(rows, (r) => r.count),
      Float64Array.from(rows, (r) => r.seconds),
    ],
  };
}
