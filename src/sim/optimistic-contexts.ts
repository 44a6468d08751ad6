/** What an optimistic PE is made of before its engine exists. */
import { Entries, Kp } from './kp.ts';
import { OptimisticLp } from './optimistic-lp.ts';
import type { Pe } from './pe.ts';

/** What the KPs of a PE remember; made with its contexts, which write to it. */
export interface KpMemory {
  readonly kps: readonly Kp[];
  readonly entries: Entries;
}

/** The KPs of a PE and the contexts, each an `Lp`, that record with them. */
export function optimisticContexts(Lp: typeof OptimisticLp = OptimisticLp): {
  readonly contextFor: ConstructorParameters<typeof Pe>[6];
  readonly kept: () => KpMemory;
} {
  let kept: (KpMemory & { readonly kps: Kp[] }) | null = null;
  return {
    kept: () => kept as KpMemory,
    contextFor: (pe, name, type) => {
      if (kept === null) {
        const entries = new Entries(pe.config.nkp, pe.pool.capacity);
        kept = { kps: [], entries };
        for (let k = 0; k < pe.config.nkp; k++) kept.kps.push(new Kp(k, entries, pe.memory.i32));
      }
      return new Lp(kept.kps, kept.entries, pe, name, type, kept.kps[0]);
    },
  };
}
