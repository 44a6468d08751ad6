/** An engine's GVT and counts in its thread's slot of the region page. */
import { ENGINE_COUNTS } from '../model/engine-marks.ts';
import { H, T, THREAD_BYTES } from '../model/region-layout.ts';
import type { PageMemory } from './page-file.ts';

export class EngineCells {
  private readonly u32: Uint32Array;
  private readonly cells: Float64Array;
  private readonly flag: number;
  /** Counts of earlier engines in this slot: counts on the page never decrease. */
  private readonly base = new Float64Array(ENGINE_COUNTS);
  private last = Number.POSITIVE_INFINITY;

  constructor({ u32, f64 }: PageMemory, slot: number) {
    const at = u32[H.threads >> 2] + slot * THREAD_BYTES;
    this.u32 = u32;
    this.flag = (at + T.simulates) >> 2;
    this.cells = f64.subarray((at + T.gvt) >> 3, (at + T.gvtComputations) / 8 + 1);
  }

  /** @param gvt Infinity at the end: the page then keeps the last finite one */
  put(
    gvt: number,
    processed: number,
    rolledBack: number,
    committed: number,
    rollbacks: number,
    gvtComputations: number,
  ): void {
    const cells = this.cells;
    const base = this.base;
    if (processed < this.last) base.set(cells.subarray(1));
    this.last = processed;
    if (gvt < Number.POSITIVE_INFINITY) cells[0] = gvt;
    cells[1] = base[0] + processed;
    cells[2] = base[1] + rolledBack;
    cells[3] = base[2] + committed;
    cells[4] = base[3] + rollbacks;
    cells[5] = base[4] + gvtComputations;
    this.u32[this.flag] = 1;
  }
}
