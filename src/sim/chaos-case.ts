/** What a seed of chaos runs: how small and how late things are, and with how many PEs and which knobs. */
import type { Synchroniser } from './config.ts';
import type { Settings } from './settings.ts';
import { CASE, type ChaosSettings, chaosShape, Dice } from './transport/chaos.ts';

export interface ChaosCase {
  readonly name: string;
  readonly settings: Settings;
  readonly chaos: ChaosSettings;
  /** Over MPI: whether ranks of a machine share memory. */
  readonly shares: boolean;
}

/** What chaos needs to know of a model and of its sequential run. */
export interface ChaosGround {
  readonly lookahead: number;
  readonly lps: number;
  /** Bytes of event memory that the sequential run had in use at most. */
  readonly memory: number;
}

/** Of what a sequential run needs, so much is enough for any optimistic run. */
const TIGHT = 1.5;
/** Bytes for what is on its way, where a small run leaves none. */
const LEAST = 16_384;

const count = (n: number) => (Number.isFinite(n) ? `${n}` : 'many');

/**
 * The run of `seed`, with `ranks` PEs where so many are there already.
 * @param what of `settings` says what to run, not how
 */
export function chaosCase(
  seed: number,
  what: Settings,
  { lookahead, lps, memory }: ChaosGround,
  ranks?: number,
): ChaosCase {
  const dice = new Dice(seed, CASE);
  const synch = dice.of<Synchroniser>([
    'optimistic',
    lookahead > 0 ? 'conservative' : 'optimistic',
    dice.chance(0.2) ? 'optimistic-realtime' : 'optimistic',
  ]);
  const pes = ranks ?? Math.min(lps, dice.of([2, 2, 3, 4]));
  const gvtInterval = synch === 'optimistic-realtime' ? dice.of([1, 5]) : dice.of([1, 4, 16, 64]);
  const tight = synch !== 'conservative' && dice.chance(0.25);
  const near = dice.chance(0.25);
  const shares = dice.chance(0.5);
  const knobs = { nkp: dice.of([1, 4, 16]), batch: dice.of([1, 2, 16, 300]), gvtInterval };
  const { ringSlots, batchSlots } = chaosShape(seed);
  const { nkp, batch } = knobs;
  const words = [
    `${synch}, ${pes} ${ranks === undefined ? 'PEs' : shares ? 'ranks' : 'ranks, nothing shared'}`,
    `nkp ${nkp}, batch ${batch}, gvt ${gvtInterval}`,
    `rings of ${count(ringSlots)}${ranks === undefined ? '' : `, batches of ${count(batchSlots)}`}`,
    ...(tight ? ['memory short'] : []),
    ...(near && lookahead > 0 ? ['narrow window'] : []),
  ];
  return {
    name: `chaos ${seed}: ${words.join('; ')}`,
    settings: {
      ...what,
      synch,
      pes,
      ...knobs,
      ...(tight && { maxMemory: Math.max(LEAST, Math.ceil(memory * TIGHT * (ranks ?? 1))) }),
      ...(near && lookahead > 0 && { maxOptLookahead: lookahead }),
    },
    chaos: { seed },
    shares,
  };
}
