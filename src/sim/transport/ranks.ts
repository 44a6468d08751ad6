/**
 * PEs as the ranks of an MPI job, each connected by the shortest way. If all of them are on one machine, that is the rings and
 * words of shared memory that threads use, too; otherwise messages (`mpi.ts`), except between neighbours.
 */
import { waitFor, wake } from '../../os/futex.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { Budget } from '../event.ts';
import type { Pe } from '../pe.ts';
import { EngineControl, fillBudget } from './control.ts';
import type { HostRings } from './host-rings.ts';
import { type MpiLimits, MpiTransport } from './mpi.ts';
import type { RankProgress, RankTransport } from './rank-transport.ts';
import { type RingParts, ThreadTransport } from './threads.ts';

/** All ranks are on this machine, and share memory. */
class NeighbourTransport extends ThreadTransport implements RankTransport {
  readonly batches = 0;

  constructor(host: Pe, { memory, ranks }: HostRings, parts?: RingParts) {
    super(host, memory, ranks.length, { ...parts, sleep: { wait: waitFor, wake } });
  }

  progress(): RankProgress {
    return { gvt: this.control.gvt(), ...this.control.progress() };
  }

  stop(): void {
    this.control.stopAtGvt();
  }

  override stopped(): boolean {
    return this.control.stopDue();
  }

  close(): void {}
}

const allShare = (world: MpiWorld, rings: HostRings | null): rings is HostRings =>
  rings?.ranks.length === world.size;

/** The event memory of all ranks, if they share memory, in records; otherwise null. All ranks call it. */
export function commonBudget(
  world: MpiWorld,
  rings: HostRings | null,
  records: number,
): Budget | null {
  if (!allShare(world, rings)) return null;
  const { control } = rings.memory;
  if (world.rank === 0) fillBudget(control, records);
  world.meet();
  return new EngineControl(control, world.size).budget;
}

export function rankTransport(
  host: Pe,
  world: MpiWorld,
  rings: HostRings | null,
  limits: MpiLimits = {},
): RankTransport {
  if (allShare(world, rings)) return new NeighbourTransport(host, rings, limits.parts);
  return new MpiTransport(host, world, rings, limits);
}
