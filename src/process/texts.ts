/** Parses files of /proc about processes and threads. Source: proc(5); Documentation/scheduler/sched-stats. */
import { rankIn } from '../model/mpi-rank.ts';

/** Nanoseconds of a tick: Linux shows times to user programs in hundredths of a second on every machine. */
const TICK_NS = 10_000_000n;

export interface Stat {
  readonly name: string;
  /** R, S, D, T, Z, … */
  readonly state: string;
  readonly parent: number;
  readonly minorFaults: bigint;
  readonly majorFaults: bigint;
  /** Nanoseconds, in steps of a tick. */
  readonly user: bigint;
  readonly system: bigint;
  /** Ticks since the machine's start. Together with the process id it identifies a process for ever. */
  readonly started: string;
  /** The CPU that it last ran on. */
  readonly cpu: number;
}

/** Parses the text of `stat`; null if it is not one. A name may contain spaces and brackets. */
export function readStat(text: string): Stat | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  // From the third field of proc(5) on.
  const fields = text.slice(close + 2).split(' ');
  if (open < 0 || close < open || fields.length < 37) return null;
  return {
    name: text.slice(open + 1, close),
    state: fields[0],
    parent: Number(fields[1]),
    minorFaults: BigInt(fields[7]),
    majorFaults: BigInt(fields[9]),
    user: TICK_NS * BigInt(fields[11]),
    system: TICK_NS * BigInt(fields[12]),
    started: fields[19],
    cpu: Number(fields[36]),
  };
}

/** The MPI rank in a text of `environ`; null for a process without MPI. */
export function rankOf(environ: string): number | null {
  return rankIn(
    Object.fromEntries(
      environ.split('\0').map((one) => {
        const at = one.indexOf('=');
        return [one.slice(0, at), one.slice(at + 1)];
      }),
    ),
  );
}
