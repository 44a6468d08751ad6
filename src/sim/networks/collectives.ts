/** Collective operations of MPI as messages between two ranks. A round's receive waits for its message before the next round begins. */
import { RECV, SEND } from './trace-words.ts';

interface Step {
  readonly what: number;
  readonly peer: number;
}

interface Collective {
  readonly hasRoot: boolean;
  readonly hasBytes: boolean;
  /** What one rank does. */
  rounds(rank: number, ranks: number, root: number): Generator<Step>;
}

/** In round d a rank sends to the one 2^d further: ⌈log2 N⌉ rounds (the dissemination barrier of Hensgen, Finkel and Manber, 1988). */
function* dissemination(rank: number, ranks: number): Generator<Step> {
  for (let far = 1; far < ranks; far *= 2) {
    yield { what: SEND, peer: (rank + far) % ranks };
    yield { what: RECV, peer: (rank - far + ranks) % ranks };
  }
}

/** A binomial tree from the root: in each round those who have the data send it on. */
function* down(rank: number, ranks: number, root: number): Generator<Step> {
  const own = (rank - root + ranks) % ranks;
  const at = (number: number) => (number + root) % ranks;
  let far = 1;
  while (far <= own) far *= 2;
  if (own > 0) yield { what: RECV, peer: at(own - far / 2) };
  for (; own + far < ranks; far *= 2) yield { what: SEND, peer: at(own + far) };
}

/** The same tree towards the root. */
function* up(rank: number, ranks: number, root: number): Generator<Step> {
  for (const { what, peer } of [...down(rank, ranks, root)].reverse())
    yield { what: what === SEND ? RECV : SEND, peer };
}

/** Round k: to the k-th further, from the k-th before. */
function* pairs(rank: number, ranks: number): Generator<Step> {
  for (let k = 1; k < ranks; k++) {
    yield { what: SEND, peer: (rank + k) % ranks };
    yield { what: RECV, peer: (rank - k + ranks) % ranks };
  }
}

export const COLLECTIVES: Readonly<Record<string, Collective>> = {
  barrier: { hasRoot: false, hasBytes: false, rounds: dissemination },
  allreduce: { hasRoot: false, hasBytes: true, rounds: dissemination },
  alltoall: { hasRoot: false, hasBytes: true, rounds: pairs },
  bcast: { hasRoot: true, hasBytes: true, rounds: down },
  reduce: { hasRoot: true, hasBytes: true, rounds: up },
};
