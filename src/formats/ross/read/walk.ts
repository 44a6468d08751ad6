/** What walks over records of all eras have in common. */
import { type Block, FULL } from './chunk.ts';
import type { Walk } from './layouts.ts';

/** A time: not negative, not NaN, not infinite. */
export const isTime = (x: number) => x >= 0 && x < Number.POSITIVE_INFINITY;

/**
 * A walk that takes record after record, until the block is full or a record cannot be taken.
 * @param take adds the record at a byte to the block and returns its bytes; 0 if it cannot, and the block says why
 * @param byWords takes as many records as are beyond doubt in this machine's byte order, the faster way; returns
 *   where it stopped
 */
export function walkOf(take: Walk, byWords: Walk | null): Walk {
  return (block: Block, from: number): number => {
    const fast = block.chunk.native ? byWords : null;
    let at = from;
    block.stop = FULL;
    while (block.length < block.capacity) {
      if (fast !== null) at = fast(block, at);
      if (block.length === block.capacity) break;
      const taken = take(block, at);
      if (taken === 0) break;
      at += taken;
    }
    return at;
  };
}
