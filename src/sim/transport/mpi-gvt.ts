/**
 * How ranks agree on GVT without waiting for each other (after F. Mattern, "Efficient Algorithms for Distributed
 * Snapshots and Global Virtual Time Approximation", 1993).
 *
 *     none ──► cut ──► reducing ──► reduced ──► none
 *                          ▲            │ something was in flight
 *                          └── again ◄──┘
 *
 * Batches have one of two colours. A rank begins a round with a cut: from then on it sends in the other colour. A
 * contribution is one MPI_Iallreduce of two values: batches of the old colour sent minus those received (summed), and the
 * least time of the first pending event and of what was sent in the new colour (a minimum). If the sum is 0, every batch
 * of the old colour had been received before its receiver contributed, and what crossed the contributions was sent in
 * the new colour: the minimum is the GVT. Otherwise all ranks contribute again.
 *
 * Batches of one rank arrive in order: after its first in the new colour, none of the old is missing. A rank that sees
 * such a batch before its own cut makes the cut too. A batch of the colour after the next cannot meet one of the old,
 * because a round starts when the one before has ended. Among few ranks, each announces its cut by a batch without slots,
 * which is not counted, and contributes when all the others have announced theirs: then one reduction is enough. Among
 * many, it waits a few turns for batches that are sent anyway.
 *
 * What crosses the contributions may reach its receiver after the GVT does. It bounds how far conservative ranks may go:
 * all of it was sent in the new colour before its sender contributed, and its least time is agreed on, too (`Gvt.underWay`).
 * What was sent after a contribution was sent by an event at or after the GVT, and is a lookahead away.
 *
 * Neighbours that share memory count no batches: a mark in the ring separates the last message of one colour from the first of the
 * next, and a rank always waits for the marks of all its neighbours.
 */
import type { MpiWorld, Reduction } from '../../os/mpi/world.ts';
import { ASK_HOOK, ASK_SAMPLE, ASK_STOP, GVT_TIES, type Gvt } from './transport.ts';

/** Words that are summed; a word whose maximum is taken; one whose minimum is taken; and the GVT, as one key. */
const BALANCE = 0;
const COMMITTED = 1;
const ROLLED_BACK = 2;
const SUMS = 3;
const STOP = 3;
const HOOK = 4;
const SAMPLE = 5;
const END = 6;
const PRESSURE = 7;
const EASE = 8;
const PROMISED = 9;
const SAMPLES = 10;
const BOUND = 11;
const MAXIMA = 12;
const UNDER_WAY = 12;
const TIME = 13;
const PRIORITY = 14;
const TIES = 15;
const WORDS = TIES + GVT_TIES;

/** Turns for which one of many ranks waits for the others' cuts. */
const PATIENT_TURNS = 4;

/** Combines two ranks' contributions. */
export function combineContributions(from: Float64Array, into: Float64Array): void {
  for (let k = 0; k < SUMS; k++) into[k] += from[k];
  for (let k = SUMS; k < MAXIMA; k++) if (from[k] > into[k]) into[k] = from[k];
  if (from[UNDER_WAY] < into[UNDER_WAY]) into[UNDER_WAY] = from[UNDER_WAY];
  for (let k = TIME; k < WORDS; k++) {
    if (from[k] === into[k]) continue;
    if (from[k] < into[k]) into.set(from.subarray(TIME, WORDS), TIME);
    return;
  }
}

export class MpiGvt {
  /** Colour of what is sent now. */
  colour = 0;
  /** Reductions that the last GVT took. */
  reductions = 0;
  /** The run stops: all ranks see it at the same GVT. */
  stopped = false;
  /** What was asked for at the last GVT (`Transport.asked`). */
  asked = 0;
  pressure = 0;
  /** The last GVT, for progress lines. */
  gvt = 0;
  committed = 0;
  rolledBack = 0;
  /** This rank's next contribution. */
  readonly mine = {
    stop: false,
    asks: 0,
    pressure: 0,
    ease: false,
    committed: 0,
    rolledBack: 0,
  };
  /** Batches sent altogether. */
  batches = 0;
  private readonly reduction: Reduction;
  /** Batches by colour. */
  private readonly sent = [0, 0];
  private readonly received = [0, 0];
  /** Colour of batches whose sender has made the cut of the coming round, or of the present one before this rank contributed. */
  private ahead = 1;
  /** By sender: whether such a batch has arrived; and the number of such senders. */
  private readonly seen: Uint8Array;
  private cuts = 0;
  /** Marks of neighbours that have arrived for that round, and marks that must arrive. */
  private marks = 0;
  private readonly marksWanted: number;
  /** Whether each rank is told of a cut. */
  readonly tells: boolean;
  private waited = 0;
  /** Least time posted in the new colour. */
  private readonly posted = new Float64Array([Infinity]);
  private state: 'none' | 'cut' | 'reducing' | 'reduced' | 'again' = 'none';
  private contributions = 0;
  /** Batches of the old colour received before the last contribution. */
  private counted = 0;

  /**
   * @param tells whether ranks tell each other of their cuts
   * @param sharing number of ranks that share memory with this one, including itself
   */
  constructor(world: MpiWorld, tells: boolean, sharing = 1) {
    this.marksWanted = sharing - 1;
    this.tells = tells;
    this.reduction = world.reduction(WORDS, combineContributions);
    this.seen = new Uint8Array(world.size);
  }

  /** Called when an event or anti-message of `time` is sent. */
  post(time: number): void {
    if (time < this.posted[0]) this.posted[0] = time;
  }

  /** Called when a batch is sent; returns its colour. */
  readonly batchSent = (): number => {
    this.batches++;
    this.sent[this.colour]++;
    return this.colour;
  };

  /** Batches sent whose arrival no GVT has confirmed yet. */
  get unacknowledged(): number {
    return this.sent[0] + this.sent[1];
  }

  batchReceived(from: number, colour: number): void {
    this.received[colour]++;
    if (colour === this.ahead) this.cutBy(from);
  }

  /** A neighbour has begun the coming round, or the present one before this rank contributed. */
  markReceived(from: number): void {
    this.marks++;
    this.cutBy(from);
  }

  /** Another rank has begun it. */
  cutBy(from: number): void {
    if (this.seen[from] !== 0) return;
    this.seen[from] = 1;
    this.cuts++;
  }

  /** Whether no round is under way on this rank. */
  get idle(): boolean {
    return this.state === 'none';
  }

  /** Another rank has begun the next round. */
  get followed(): boolean {
    return this.state === 'none' && this.cuts > 0;
  }

  /** A batch sent now tells another rank what it waits for. */
  get urgent(): boolean {
    return this.state === 'cut' && !this.tells;
  }

  /** Begins a round. All that was posted must have been sent. */
  cut(): void {
    this.state = 'cut';
    this.contributions = 0;
    this.waited = 0;
    this.colour ^= 1;
    this.posted[0] = Infinity;
  }

  /** Stops waiting for other ranks' cuts. */
  hurry(): void {
    this.waited = PATIENT_TURNS;
  }

  /** Called once a turn. */
  awaits(): boolean {
    if (this.state === 'again') return true;
    if (this.state !== 'cut') return false;
    if (this.cuts === this.seen.length - 1) return true;
    if (this.tells || this.marks < this.marksWanted) return false;
    return this.waited++ >= PATIENT_TURNS;
  }

  /** All that was posted before the cut has been sent. */
  contribute(least: Gvt): void {
    const { mine: words } = this.reduction;
    const { mine, sent, received, posted } = this;
    const old = this.colour ^ 1;
    this.counted = received[old];
    words[BALANCE] = sent[old] - this.counted;
    words[COMMITTED] = mine.committed;
    words[ROLLED_BACK] = mine.rolledBack;
    words[STOP] = Number(mine.stop);
    words[HOOK] = mine.asks & ASK_HOOK;
    words[SAMPLE] = mine.asks & ASK_SAMPLE;
    words[END] = mine.asks & ASK_STOP;
    words[PRESSURE] = mine.pressure;
    words[EASE] = Number(mine.ease);
    words[PROMISED] = Number(least.promised);
    words[SAMPLES] = least.samples;
    words[BOUND] = least.bound;
    words[UNDER_WAY] = Math.min(posted[0], least.underWay);
    // For messages in flight only a bound of their time is known.
    const flying = posted[0] <= least.time;
    words[TIME] = flying ? posted[0] : least.time;
    words[PRIORITY] = flying ? -Infinity : least.priority;
    if (flying) words.fill(-Infinity, TIES);
    else words.set(least.ties, TIES);
    // From here on the same colour marks the round after this one.
    this.ahead = old;
    this.seen.fill(0);
    this.cuts = 0;
    this.marks = 0;
    this.contributions++;
    this.state = 'reducing';
    this.reduction.start();
  }

  /** Whether a reduction has ended whose result this rank has not taken. */
  look(): boolean {
    if (this.state === 'reducing' && this.reduction.done()) this.state = 'reduced';
    return this.state === 'reduced';
  }

  take(out: Gvt): boolean {
    if (!this.look()) return false;
    const { all, mine: said } = this.reduction;
    if (all[BALANCE] !== 0) {
      this.state = 'again';
      return false;
    }
    const { mine } = this;
    const old = this.colour ^ 1;
    this.sent[old] = 0;
    // Faster ranks may be in the next round already, and send in this colour again.
    this.received[old] -= this.counted;
    this.state = 'none';
    this.reductions = this.contributions;
    this.committed = all[COMMITTED];
    this.rolledBack = all[ROLLED_BACK];
    this.stopped = all[STOP] !== 0;
    this.asked = all[HOOK] | all[SAMPLE] | all[END];
    mine.asks &= ~(said[HOOK] | said[SAMPLE] | said[END]);
    if (all[PRESSURE] > this.pressure) this.pressure = all[PRESSURE];
    else if (all[EASE] !== 0 && this.pressure > 0) this.pressure--;
    mine.pressure = 0;
    mine.ease = false;
    this.gvt = all[TIME];
    out.time = all[TIME];
    out.underWay = all[UNDER_WAY];
    out.promised = all[PROMISED] !== 0;
    out.samples = all[SAMPLES];
    out.bound = all[BOUND];
    out.priority = all[PRIORITY];
    out.ties.set(all.subarray(TIES, WORDS));
    return true;
  }

  /** Called after the last GVT. */
  close(): void {
    this.reduction.close();
  }
}
