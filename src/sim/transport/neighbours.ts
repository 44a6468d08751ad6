/**
 * The ranks of this machine, in a job of several: events go to them through rings in shared memory, as between threads,
 * while GVT is that of all ranks.
 */
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { Pe } from '../pe.ts';
import type { HostRings } from './host-rings.ts';
import type { MpiGvt } from './mpi-gvt.ts';
import { type RingParts, ThreadTransport } from './threads.ts';
import type { Receiver } from './transport.ts';

/** The channel of an anti-message that takes nothing back: the mark between two colours. */
const MARK = 0x7fffffff;

export class Neighbours {
  private readonly ranks: readonly number[];
  private readonly rings: ThreadTransport;
  /** By rank: its place in the rings; -1 for a rank of another machine. */
  private readonly places: Int32Array;
  private readonly own: number;
  private receiver: Receiver | null = null;
  private readonly marks: Receiver;

  constructor(
    host: Pe,
    { ranks, memory }: HostRings,
    world: MpiWorld,
    gvt: MpiGvt,
    parts?: RingParts,
  ) {
    this.ranks = ranks;
    this.own = ranks.indexOf(world.rank);
    this.places = new Int32Array(world.size).fill(-1);
    for (const [place, rank] of ranks.entries()) this.places[rank] = place;
    const { pool, signatures } = host;
    this.rings = new ThreadTransport(
      { number: this.own, pool, signatures },
      memory,
      ranks.length,
      parts,
    );
    const to = () => this.receiver as Receiver;
    this.marks = {
      arriving: () => to().arriving(),
      arrived: (h, place, channel) => to().arrived(h, ranks[place], channel),
      cancelled: (place, channel, rollback) => {
        if (channel === MARK) gvt.markReceived(ranks[place]);
        else to().cancelled(ranks[place], channel, rollback);
      },
    };
  }

  get heldBack(): number {
    return this.rings.heldBack;
  }

  has(rank: number): boolean {
    return this.places[rank] >= 0;
  }

  /** Like a transport's `post`; false if `pe` is on another machine. */
  post(pe: number, h: number, channel: number): boolean {
    const place = this.places[pe];
    if (place < 0) return false;
    this.rings.post(place, h, channel);
    return true;
  }

  /** Like a transport's `cancel`; false if `pe` is on another machine. */
  cancel(pe: number, channel: number, rollback: number): boolean {
    const place = this.places[pe];
    if (place < 0) return false;
    this.rings.cancel(place, channel, Infinity, rollback);
    return true;
  }

  flush(): void {
    this.rings.flush();
  }

  drain(receiver: Receiver): number {
    this.receiver = receiver;
    return this.rings.drain(this.marks);
  }

  /** Something has arrived, or waits for room. */
  awaited(): boolean {
    return this.rings.awaited();
  }

  /** What is sent from here on has the next colour. */
  cut(): void {
    for (let place = 0; place < this.ranks.length; place++) {
      if (place !== this.own) this.rings.cancel(place, MARK, Infinity, 0);
    }
    this.rings.flush();
  }
}
