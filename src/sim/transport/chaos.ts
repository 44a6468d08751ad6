/**
 * The real transports under the worst conditions: hardly any room in rings and batches, and random delays wherever a
 * delay is allowed. What a transport promises (`transport.ts`) still holds, so results must be the same. Chaos consists of parts
 * that a transport is given and of methods that replace its own: without chaos, the transport has no trace of it.
 *
 *     post, publish   a ring says that it is full: messages wait at their sender, and others overtake them
 *     flush           is left out for a few turns
 *     drain           takes only some of what has arrived, from some senders, or nothing
 *     contribute      comes later than it could; GVTs are asked for that nobody needs
 *     take            a GVT is known a few turns late
 */
import type { MpiLimits } from './mpi.ts';
import { RingConsumer, RingProducer } from './ring.ts';
import type { RingParts } from './threads.ts';
import type { Gvt, Receiver, Transport } from './transport.ts';

/** Plain data, because it is sent to threads. */
export interface ChaosSettings {
  /** From 1 to 2^31 - 1; decides the sizes and how often things are late. */
  readonly seed: number;
  /** PEs are not told what is under way: for tests that such a fault is noticed. */
  readonly careless?: boolean;
  /** Overrides what the seed chooses. */
  readonly shape?: Partial<ChaosShape>;
  /** Probability that a PE pauses, at each opportunity; 0 if all PEs share a thread, which would only sleep. */
  readonly pauses?: number;
}

/** Room for one slot only: rings overflow at every send. */
export const CROWDED: ChaosSettings = {
  seed: 1,
  shape: { ringSlots: 1, batchSlots: 1, late: 0, limits: {} },
};

export const MOST_SEED = 0x7fffffff;

/** Random numbers of a seed: by T. Ettinger's mulberry32. */
export class Dice {
  private state: number;

  constructor(seed: number, stream = 0) {
    this.state = (seed ^ Math.imul(stream + 1, 0x9e3779b1)) | 0;
    // Neighbouring seeds have similar first values.
    for (let k = 0; k < 4; k++) this.uniform();
  }

  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let x = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** One of `values`. */
  of<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.uniform() * values.length)] ?? values[0];
  }
}

/** Random streams of a seed: for the sizes, for what to run (`chaos-case.ts`), and one per PE. */
const SHAPE = 0;
export const CASE = 1;
const FIRST_PE = 2;

/** Sizes of rings and batches. */
interface ChaosShape {
  readonly ringSlots: number;
  readonly batchSlots: number;
  /** Probability of being late, at each opportunity. */
  readonly late: number;
  readonly limits: Pick<MpiLimits, 'mostBatches' | 'fewRanks' | 'mostTaken'>;
  /** False: rings as between CPUs that do not keep the order of loads and stores; otherwise as this machine's can. */
  readonly inOrder: false | undefined;
}

export function chaosShape(seed: number): ChaosShape {
  const dice = new Dice(seed, SHAPE);
  return {
    ringSlots: dice.of([1, 2, 7, Infinity]),
    batchSlots: dice.of([1, 2, Infinity]),
    late: dice.of([0.02, 0.1, 0.4]),
    limits: {
      fewRanks: dice.of([1, 16]),
      ...(dice.chance(0.5) && { mostBatches: dice.of([1, 4]) }),
      ...(dice.chance(0.5) && { mostTaken: 1 }),
    },
    inOrder: dice.chance(0.5) ? false : undefined,
  };
}

/** Milliseconds that a PE may pause, and how often it does by default. */
const PAUSE_MS = 0.05;
const PAUSES = 1 / 64;

/** Chaos of one PE. */
export class Chaos {
  /** For `MpiTransport`. */
  readonly limits: MpiLimits;
  /** For `ThreadTransport`. */
  readonly parts: RingParts;
  private readonly dice: Dice;
  private readonly late: number;
  private readonly careless: boolean;
  private readonly pauses: number;
  /** A GVT depends on what is drained and flushed now. */
  private whole = false;
  private readonly bed = new Int32Array(new SharedArrayBuffer(4));

  constructor({ seed, careless = false, shape, pauses = PAUSES }: ChaosSettings, pe: number) {
    const { ringSlots, batchSlots, late, limits, inOrder } = { ...chaosShape(seed), ...shape };
    this.dice = new Dice(seed, FIRST_PE + pe);
    this.late = late;
    this.careless = careless;
    this.pauses = pauses;
    const isLate = () => this.isLate();
    const pause = () => this.pause();
    const some = (n: number) => (this.whole || n === 0 ? n : this.some(n));
    this.parts = {
      producer: (words, size) =>
        new (class extends RingProducer {
          override room(): boolean {
            return !isLate() && super.room();
          }
          override publish(soon?: boolean): boolean {
            pause();
            return super.publish(soon);
          }
        })(words, size, ringSlots, inOrder),
      consumer: (words, size) =>
        new (class extends RingConsumer {
          override look(): number {
            return some(super.look());
          }
        })(words, size, inOrder),
    };
    this.limits = { ...limits, batchSlots, parts: this.parts };
  }

  private isLate(): boolean {
    return this.dice.chance(this.late);
  }

  private some(n: number): number {
    return this.isLate() ? Math.floor(this.dice.uniform() * (n + 1)) : n;
  }

  private pause(): void {
    if (this.dice.chance(this.pauses)) Atomics.wait(this.bed, 0, 0, PAUSE_MS);
  }

  /** Replaces methods of `transport` by chaotic ones, and returns it. */
  around<T extends Transport>(transport: T): T {
    this.holdUpMessages(transport);
    this.holdUpGvts(transport);
    return transport;
  }

  private holdUpMessages(transport: Transport): void {
    const drain = transport.drain.bind(transport);
    const rest = transport.rest.bind(transport);
    const full = transport.full.bind(transport);
    const lbts = transport.lbts.bind(transport);
    transport.drain = (receiver: Receiver) => {
      this.pause();
      if (!this.whole && this.isLate()) return 0;
      const n = drain(receiver);
      this.whole = false;
      return n;
    };
    transport.lbts = (lookahead: number) => {
      if (this.isLate()) return -Infinity;
      this.whole = true;
      return lbts(lookahead);
    };
    transport.full = () => full() || (this.dice.chance(0.1) && this.isLate());
    transport.rest = (turns) => {
      if (this.isLate()) this.pause();
      else rest(turns);
    };
  }

  private holdUpGvts(transport: Transport): void {
    const flush = transport.flush.bind(transport);
    const waits = transport.gvtWaits.bind(transport);
    const contribute = transport.contribute.bind(transport);
    const take = transport.takeGvt.bind(transport);
    let awaited = false;
    let flushed = true;
    transport.flush = (soon?: boolean) => {
      flushed = awaited || !this.isLate();
      if (flushed) flush(soon);
    };
    transport.gvtWaits = () => {
      // As if the turn had not got that far: what has not been flushed must not count as published.
      if (!flushed || this.isLate()) return false;
      if (this.dice.chance(0.1) && this.isLate()) transport.requestGvt();
      awaited = waits();
      this.whole = awaited;
      return awaited;
    };
    transport.contribute = (least: Gvt) => {
      awaited = false;
      this.pause();
      contribute(least);
    };
    transport.takeGvt = (out: Gvt) => {
      if (this.isLate() || !take(out)) return false;
      this.pause();
      this.whole = true;
      if (this.careless) out.underWay = Infinity;
      return true;
    };
  }
}
