/**
 * What the ranks of one machine share: control words and a ring for each ordered pair of ranks, in one block of memory.
 *
 *     words | doubles | ring 0 → 1 | ring 0 → 2 | … | ring 1 → 0 | …
 */
import { hostMemory } from '../../os/mpi/host-memory.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import { controlBytes } from './control.ts';
import { ringBytes } from './ring.ts';
import type { ThreadMemory } from './threads.ts';

/** Approximate size of all rings of a machine: containers often have 64 MB in /dev/shm. But no ring has less than 64 slots. */
const MOST_BYTES = 1 << 25;
/** Parts begin on cache lines of their own. */
const LINE_BYTES = 128;

export interface HostRings {
  /** The ranks that share, including this one; a rank's place here is its number in `memory`. */
  readonly ranks: readonly number[];
  readonly memory: ThreadMemory;
  release(): void;
}

const lines = (bytes: number) => Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;

/** This rank's group, if at most a given number of ranks of a machine share. */
function groupOf(world: MpiWorld, most: number): number[] {
  const neighbours = world.neighbours();
  const first = Math.floor(neighbours.indexOf(world.rank) / most) * most;
  return neighbours.slice(first, first + most);
}

/**
 * The memory that this rank shares with others of its machine. All ranks call it.
 * @param words number of words of a slot
 * @param most number of ranks that may share one memory
 * @returns null if a rank is alone, or its machine has no memory to share
 */
export function hostRings(world: MpiWorld, words: number, most = Infinity): HostRings | null {
  if (world.size === 1) return null;
  const ranks = groupOf(world, Math.min(most, world.size));
  const n = ranks.length;
  const control = controlBytes(n);
  const doublesAt = lines(control.words);
  const ringsAt = doublesAt + lines(control.doubles);
  const bytes = ringBytes(words, MOST_BYTES / (n * n));
  const whole = n === 1 ? 0 : ringsAt + n * (n - 1) * lines(bytes);
  const mapping = hostMemory(world, ranks, whole);
  if (mapping === null) return null;
  let at = ringsAt;
  const next = () => {
    at += lines(bytes);
    return new Int32Array(mapping.part(at - lines(bytes), bytes));
  };
  const nothing = new Int32Array(0);
  const rings = ranks.map((_, from) => ranks.map((__, to) => (from === to ? nothing : next())));
  return {
    ranks,
    memory: {
      control: {
        words: new Int32Array(mapping.part(0, control.words)),
        doubles: new Float64Array(mapping.part(doublesAt, control.doubles)),
      },
      rings,
    },
    release: () => mapping.unmap(),
  };
}
