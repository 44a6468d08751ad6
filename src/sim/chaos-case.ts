/** The run of a chaos seed: how small its buffers and how late its messages are, its number of PEs and its settings. */
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

/** The facts of a model and of its sequential run that chaos needs. */
export interface ChaosGround {
  readonly lookahead: number;
  readonly lps: number;
  /** The most bytes of event memory that the sequential run used. */
  readonly memory: number;
}

/** This multiple of a sequential run's memory is enough for any optimistic run. */
const TIGHT = 1.5;
/** Bytes for messages on their way: the memory of a small run leaves none for these. */
const LEAST_BYTES = 16_384;

const count = (n: number) => (Number.isFinite(n) ? `${n}` : 'many');

/**
 * The run of `seed`, with `ranks` PEs if the job has that many ranks.
 * @param what the part of `settings` that says what is run, not how
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
      ...(tight && { maxMemory: Math.max(LEAST_BYTES, Math.ceil(memory * TIGHT * (ranks ?? 1))) }),
      ...(near && lookahead > 0 && { maxOptLookahead: lookahead }),
    },
    chaos: { seed },
    shares,
  };
}
