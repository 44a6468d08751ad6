/**
 * Tie-breakers: every event that is created takes one uniform of its sender's core stream, as in ROSS. Only events of
 * one time ever need theirs, and most models have none. So an LP counts what it has sent, and a
 * record holds the number of its draw, as `-1 - number`, until the value is needed: then the stream is moved there from its
 * start. If that happens often, streams are stepped along with the events, and records hold the draws.
 */
import type { EventPool } from './event.ts';
import * as layout from './layout.ts';
import { indexOfLp, type Placement, peOfLp } from './placement.ts';
import { reservedDoubles } from './reserved.ts';
import * as clcg4 from './rng/clcg4.ts';

const { ALIGN, SENDS, SOURCE, TIE } = layout;
const { jump, next, nextAhead, previous, seedStream, STREAM_WORDS } = clcg4;

/** What an event's list of tie-breakers ends with. */
export interface TieSource {
  /** The tie-breaker of event `h`, from 0 to 1. */
  of(h: number): number;
}

/** Numbers of draws below which streams are not stepped, beside two an LP; and the share of events above which they are. */
const FEW = 256;
const OFTEN = 1 / 32;
/** Takes up to this many draws back one by one; more by a jump. */
const STEPS = 12;

/** Moves a stream back by `draws`. */
export function unDraw(S: Float64Array, at: number, draws: number): void {
  if (draws > STEPS) jump(S, at, -draws);
  else for (let k = 0; k < draws; k++) previous(S, at);
}

interface TieLps {
  readonly number: number;
  readonly placement: Placement;
  /** Global ids of this PE's LPs. */
  readonly ids: Int32Array;
  /** LP blocks, `blockSize` doubles each; see `layout.ts`. */
  readonly blocks: Float64Array;
  readonly blockSize: number;
  readonly seeds: clcg4.Seeds;
  /** Events handled so far, more or less. */
  handled(): number;
}

export class TieBreakers implements TieSource {
  private readonly pool: EventPool;
  private readonly lps: TieLps;
  private readonly blocks: Float64Array;
  /** Core streams by LP index: at their starts; once they are stepped, one step ahead of the next draw. */
  private readonly streams: Float64Array;
  /** [0]: whether streams are stepped. In a typed array: as a field it would be compiled as a constant, and change. */
  private readonly stepped = new Int32Array(32);
  private readonly scratch = new Float64Array(STREAM_WORDS);
  private seeded = false;
  private asked = 0;

  constructor(pool: EventPool, lps: TieLps) {
    this.pool = pool;
    this.lps = lps;
    this.blocks = lps.blocks;
    this.streams = reservedDoubles(Math.max(16, lps.ids.length * STREAM_WORDS));
  }

  /** For the tie-breaker of an event that LP `index`, whose block is at `base`, sends: what its record is to hold. */
  take(index: number, base: number): number {
    const n = this.blocks[base + SENDS];
    this.blocks[base + SENDS] = n + 1;
    return this.stepped[0] === 0 ? -1 - n : nextAhead(this.streams, index * STREAM_WORDS);
  }

  /** Undoes `draws` of LP `index`. */
  takeBack(index: number, base: number, draws: number): void {
    this.blocks[base + SENDS] -= draws;
    if (this.stepped[0] !== 0) unDraw(this.streams, index * STREAM_WORDS, draws);
  }

  of(h: number): number {
    const held = this.pool.F[h + TIE];
    return held < 0 ? this.find(h, -1 - held) : held;
  }

  /** Draw number `n` of event `h`'s sender, which its record then holds. */
  private find(h: number, n: number): number {
    const { scratch, streams, lps, pool } = this;
    const { placement, number } = lps;
    const id = pool.I[(h << 1) + SOURCE];
    if (this.stepped[0] === 0 && peOfLp(placement, id) === number) {
      this.seed();
      const at = indexOfLp(placement, id, number) * STREAM_WORDS;
      for (let k = 0; k < STREAM_WORDS; k++) scratch[k] = streams[at + k];
    } else seedStream(scratch, 0, lps.seeds, placement.lps + id);
    jump(scratch, 0, n + 1);
    const tie = nextAhead(scratch, 0);
    pool.F[h + TIE] = tie;
    this.asked++;
    if (this.stepped[0] === 0 && this.asked > FEW + 2 * lps.ids.length) this.judge();
    return tie;
  }

  /** Puts all streams at their starts. */
  private seed(): void {
    if (this.seeded) return;
    this.seeded = true;
    const { ids, placement, seeds } = this.lps;
    clcg4.seedStreamsOf(this.streams, 0, STREAM_WORDS, seeds, ids, placement.lps);
  }

  /** Steps streams from now on, if so many draws have been asked for. */
  private judge(): void {
    const { lps, streams, blocks } = this;
    if (this.asked < OFTEN * lps.handled()) return;
    this.seed();
    for (let k = 0; k < lps.ids.length; k++) {
      const at = k * STREAM_WORDS;
      jump(streams, at, blocks[k * lps.blockSize + ALIGN + SENDS]);
      next(streams, at);
    }
    this.stepped[0] = 1;
  }
}
