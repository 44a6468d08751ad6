/** The clocks of a job's machines: how far they are apart when the run starts and when it ends. */
import { existsSync, readFileSync } from 'node:fs';
import type { RecordingClock, RecordingOffset } from '../../model/recording.ts';
import { type ClockOffset, clockOffset } from '../../os/mpi/clock-offset.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import { type RunZero, runZero } from '../../os/run-clock.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const BOOT_BYTES = 40;
/** Nanoseconds: with a smaller offset, the monotonic clocks of one boot are the same clock. Time namespaces may shift them. */
const SAME_NS = 1_000_000n;

/** One rank's offsets. Plain data, because it is sent between ranks. */
export interface RankClock {
  /** Whether its monotonic clock is rank 0's. */
  readonly same: boolean;
  readonly start: ClockOffset;
  readonly end: ClockOffset;
}

/** Whether this machine has the same boot as rank 0's. */
function sameBoot(world: MpiWorld): boolean {
  const own = Buffer.alloc(BOOT_BYTES);
  if (existsSync(BOOT_ID)) own.set(readFileSync(BOOT_ID).subarray(0, BOOT_BYTES));
  const first = Buffer.from(own);
  world.broadcast(first);
  return first.equals(own);
}

export class RankClocks {
  private readonly world: MpiWorld;
  private readonly start: ClockOffset;
  private readonly same: boolean;

  /** Measures the offsets. All ranks call it. */
  constructor(world: MpiWorld) {
    this.world = world;
    this.start = clockOffset(world);
    const { monotonic } = this.start;
    this.same = sameBoot(world) && monotonic < SAME_NS && monotonic > -SAME_NS;
  }

  /** Rank 0's zero on this rank's clock. All ranks call it. */
  zero(): RunZero {
    const words = new BigInt64Array(2);
    const own = runZero();
    words[0] = own.monotonic;
    words[1] = own.wall;
    this.world.broadcast(new Uint8Array(words.buffer));
    const offset = this.same ? 0n : this.start.monotonic;
    return { monotonic: words[0] + offset, wall: words[1] };
  }

  /** Measures again. All ranks call it. @param hurry the run was interrupted: its launcher may soon kill it */
  end(hurry: boolean): RankClock {
    return { same: this.same, start: this.start, end: clockOffset(this.world, hurry) };
  }
}

const digits = ({ monotonic, wall, uncertainty, at }: ClockOffset): RecordingOffset => ({
  at: at.toString(),
  monotonic: monotonic.toString(),
  wall: wall.toString(),
  uncertainty: Number(uncertainty),
});

/** Nanoseconds per second. */
function driftOf({ start, end }: RankClock): number {
  const seconds = Number(end.at - start.at) / 1e9;
  return seconds > 0 ? Number(end.monotonic - start.monotonic) / seconds : 0;
}

/** One entry per machine except rank 0's, measured by the first of its ranks. @param hosts by rank */
export function hostClocks(
  clocks: readonly RankClock[],
  hosts: readonly string[],
): RecordingClock[] {
  const known = new Set([hosts[0]]);
  return clocks.flatMap((clock, rank) => {
    const host = hosts[rank];
    if (known.has(host)) return [];
    known.add(host);
    const { start, end } = clock;
    const seconds = Number(end.at - start.at) / 1e9;
    const doubt = Number(start.uncertainty + end.uncertainty);
    return [
      {
        host,
        rank,
        same: clock.same,
        start: digits(start),
        end: digits(end),
        drift: driftOf(clock),
        driftUncertainty: seconds > 0 ? doubt / seconds : 0,
      },
    ];
  });
}
