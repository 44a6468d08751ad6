/** What an optimistic PE is made of before its engine exists. */
import { Kp } from './kp.ts';
import { OptimisticLp } from './optimistic-lp.ts';
import type { Pe } from './pe.ts';

/** KPs of a PE and the contexts that record with them. */
export function optimisticContexts(): {
  readonly contextFor: ConstructorParameters<typeof Pe>[6];
  readonly kps: Kp[];
} {
  const kps: Kp[] = [];
  return {
    kps,
    contextFor: (pe, name, type) => {
      if (kps.length === 0) {
        for (let k = 0; k < pe.config.nkp; k++) kps.push(new Kp(k, pe.memory.i32));
      }
      return new OptimisticLp(kps[0], pe, name, type, kps[0]);
    },
  };
}
