/** Destinations of packets: the patterns of synthetic traffic (Dally, Towles, 2004, table 3.1). */
import { ModelError } from '../model-error.ts';
import type { NetworkTopology } from './topology.ts';

/** Draws a pattern's random numbers. */
export interface Draws {
  uniform(): number;
  integer(lo: number, hi: number): number;
}

/** The terminal to which a terminal sends its next packet. */
export type Pattern = (terminal: number, draws: Draws) => number;

/** What patterns depend on. */
export interface TrafficFacts {
  /** Number of terminals. */
  readonly terminals: number;
  /** The distance of `shift`. */
  readonly shift: number;
  /** The share of packets, from 0 to 1, that `hotspot` sends to terminal 0. */
  readonly hot: number;
  readonly worst: NetworkTopology['worst'];
}

const another = (terminal: number, terminals: number, draws: Draws) => {
  const other = draws.integer(0, terminals - 2);
  return other < terminal ? other : other + 1;
};

/** Sides of the rectangle of all terminals that is nearest to a square. */
function rectangle(terminals: number): readonly [number, number] {
  let side = Math.floor(Math.sqrt(terminals));
  while (terminals % side !== 0) side--;
  return [side, terminals / side];
}

function transpose(terminals: number): Pattern {
  const side = Math.round(Math.sqrt(terminals));
  if (side * side !== terminals)
    throw new ModelError(
      `--traffic=transpose: needs a square number of terminals, and there are ${terminals}`,
    );
  return (t) => (t % side) * side + Math.floor(t / side);
}

const MAKERS = {
  uniform:
    ({ terminals }) =>
    (t, draws) =>
      another(t, terminals, draws),
  complement:
    ({ terminals }) =>
    (t) =>
      terminals - 1 - t,
  transpose: ({ terminals }) => transpose(terminals),
  shift:
    ({ terminals, shift }) =>
    (t) =>
      (t + shift) % terminals,
  neighbour: ({ terminals }) => {
    const [rows, columns] = rectangle(terminals);
    return (t, draws) => {
      const way = draws.integer(0, 3);
      const x = t % columns;
      const y = Math.floor(t / columns);
      if (way < 2) return y * columns + ((x + (way === 0 ? 1 : columns - 1)) % columns);
      return ((y + (way === 2 ? 1 : rows - 1)) % rows) * columns + x;
    };
  },
  hotspot:
    ({ terminals, hot }) =>
    (t, draws) =>
      draws.uniform() < hot ? 0 : another(t, terminals, draws),
  worst: ({ worst }) => {
    if (worst === undefined)
      throw new ModelError('--traffic=worst: no such pattern is known for this network');
    return (t, draws) => worst(t, draws);
  },
} satisfies Record<string, (facts: TrafficFacts) => Pattern>;

/** The patterns, by the values of the option `traffic`. */
export const PATTERNS: readonly string[] = Object.keys(MAKERS);

/** @throws ModelError for a pattern that this network cannot have */
export function patternOf(name: string, facts: TrafficFacts): Pattern {
  return MAKERS[name as keyof typeof MAKERS](facts);
}
