/** Small runs of all built-in models and the random ones, each by a seed. */
import { fileURLToPath } from 'node:url';
import type { Settings } from 'triscope/sim';
import { Dice } from '../../../src/sim/transport/chaos.ts';

export interface SmallRun {
  /** Built-in name, or path. */
  readonly model: string;
  readonly settings: Settings;
}

const own = (name: string) => fileURLToPath(new URL(`${name}.ts`, import.meta.url));

/** A stream of the seed that nothing else draws from. */
const MODEL = 1000;

const RANDOM = [
  'random-automatic',
  'random-by-hand',
  'random-mixed',
  'random-round-robin',
  'random-custom',
  'random-hooked',
] as const;

/** With 1e-17, GVT + lookahead is GVT, and conservative PEs handle one event at a time. */
const LOOKAHEADS = [0, 1e-17, 0.25, 1] as const;

function random(dice: Dice): SmallRun {
  const long = dice.chance(0.15);
  const options = {
    lps: dice.of([4, 7, 16]),
    start: dice.of([1, 2]),
    grid: dice.of([0, 0.25, 1]),
    extra: long ? 0.15 : dice.of([0, 0.3]),
    depth: long ? 60 : dice.of([0, 3, 6]),
    zero: long ? 1 : dice.of([0, 0.5, 1]),
    remote: dice.of([0.1, 0.5, 1]),
    urgent: dice.of([0, 0.3]),
    print: dice.of([0, 0.2]),
    stop: dice.of([0, 0, 0.02]),
    mix: dice.of([0, 1, 2]),
    timer: dice.of([0, 0.3, 0.8]),
  };
  const end = dice.of([3, 8]);
  const lookahead = dice.of(LOOKAHEADS);
  return { model: own(dice.of(RANDOM)), settings: { options, end, lookahead } };
}

function builtIn(dice: Dice): SmallRun {
  return dice.of<SmallRun>([
    {
      model: 'phold',
      settings: {
        end: 6,
        lookahead: dice.of([0.1, 0.35, 0.9]),
        options: { 'total-lps': 32, 'start-events': 8, remote: dice.of([0.25, 1]) },
      },
    },
    { model: 'queueing', settings: { end: 40, options: { 'total-stations': 8 } } },
    { model: 'torus', settings: { end: 20, options: { k: 3, n: 2 } } },
    { model: 'pcs', settings: { end: 4, options: { width: 4, height: 4 } } },
  ]);
}

export function smallRun(seed: number): SmallRun {
  const dice = new Dice(seed, MODEL);
  return dice.chance(0.4) ? builtIn(dice) : random(dice);
}
