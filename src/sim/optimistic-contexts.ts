/** The parts of an optimistic PE that exist before its engine. */
import { Kp, KpEntries } from './kp.ts';
import { OptimisticLp } from './optimistic-lp.ts';
import type { Pe } from './pe.ts';

/** The records of the PE's KPs; created together with the contexts, which write to them. */
export interface KpMemory {
  readonly kps: readonly Kp[];
  readonly entries: KpEntries;
}

/** The PE's KPs, and the contexts (`Lp`) that record effects with them. */
export function optimisticContexts(Lp: typeof OptimisticLp = OptimisticLp): {
  readonly contextFor: ConstructorParameters<typeof Pe>[6];
  readonly kept: () => KpMemory;
} {
  let kept: (KpMemory & { readonly kps: Kp[] }) | null = null;
  return {
    kept: () => kept as KpMemory,
    contextFor: (pe, name, type) => {
      if (kept === null) {
        const entries = new KpEntries(pe.config.nkp, pe.pool.capacity);
        kept = { kps: [], entries };
        for (let k = 0; k < pe.config.nkp; k++) kept.kps.push(new Kp(k, entries, pe.memory.i32));
      }
      return new Lp(kept.kps, kept.entries, pe, name, type, kept.kps[0]);
    },
  };
}
