/**
 * What two ranks promise each other, in the header of each batch (null messages: K. Chandy and J. Misra, "Distributed Simulation",
 * 1979). Batches of a rank arrive in order, so that a promise holds for everything behind the batch that brings it.
 */
import { BATCH_FIRST, BATCH_HEADER, BATCH_TAKEN, BATCH_UNTIL } from './mpi-batch.ts';
import { Unseen } from './unseen.ts';

/** Part of a lookahead by which this rank has to get ahead for a batch that only tells so. */
const WORTH_TELLING = 0.5;

/** Doubles of `sent` and `theirs`. */
const FIRST = 0;
const UNTIL = 1;

/** Doubles in memory that V8 does not move. */
const nothingPromised = () => new Float64Array(16).fill(-Infinity);

export class MpiPromises {
  /** The header of the next batch, from BATCH_TAKEN on as here. */
  readonly header = new Int32Array(BATCH_HEADER);
  private readonly doubles = new Float64Array(this.header.buffer);
  private readonly lookahead: number;
  /** What this rank's last batch told, and the other's. */
  private readonly sent = nothingPromised();
  private readonly theirs = nothingPromised();
  /** Batches of this rank that the other had taken when it told that. */
  private taken = 0;
  private readonly unseen = new Unseen();

  constructor(lookahead: number) {
    this.lookahead = lookahead;
    this.withdraw();
  }

  /** Called when a message that rolls back nothing before `time` is in a batch, with all that belongs to it. */
  post(time: number): void {
    this.unseen.post(time);
  }

  /** Called when a batch is sent. @param batches number of batches with messages so far */
  send(batches: number): void {
    if (this.unseen.unpublished < Infinity) this.unseen.publish(batches);
    this.sent[FIRST] = this.doubles[BATCH_FIRST >> 1];
    this.sent[UNTIL] = this.doubles[BATCH_UNTIL >> 1];
  }

  /**
   * From here on batches tell this.
   * @param first time of this rank's first pending event
   * @param until nothing before this time is undone here unless something arrives
   * @param taken number of the other's batches, with all that belongs to their events, that are taken into account
   */
  promise(first: number, until: number, taken: number): void {
    this.header[BATCH_TAKEN] = taken;
    this.doubles[BATCH_FIRST >> 1] = first;
    this.doubles[BATCH_UNTIL >> 1] = until;
  }

  withdraw(): void {
    this.doubles[BATCH_FIRST >> 1] = -Infinity;
    this.doubles[BATCH_UNTIL >> 1] = -Infinity;
  }

  /** Whether the other rank should know of it, even without a message. */
  get isNews(): boolean {
    const { sent, doubles } = this;
    const none = doubles[BATCH_UNTIL >> 1] === -Infinity;
    if (none !== (sent[UNTIL] === -Infinity)) return true;
    if (none) return false;
    const first = doubles[BATCH_FIRST >> 1];
    return first > sent[FIRST] && first >= sent[FIRST] + WORTH_TELLING * this.lookahead;
  }

  /** A batch has arrived, whose header is at `at`. */
  hear(words: Int32Array, doubles: Float64Array, at: number): void {
    this.taken = words[at + BATCH_TAKEN];
    this.theirs[FIRST] = doubles[(at + BATCH_FIRST) >> 1];
    this.theirs[UNTIL] = doubles[(at + BATCH_UNTIL) >> 1];
  }

  toldFrom(time: number): boolean {
    return this.theirs[FIRST] >= time;
  }

  /** What arrives behind the batches that have been heard is not before this time (`Transport.lbts`). */
  lbts(): number {
    const first = Math.min(this.theirs[FIRST], this.unseen.least(this.taken));
    return Math.min(first + this.lookahead, this.theirs[UNTIL]);
  }
}
