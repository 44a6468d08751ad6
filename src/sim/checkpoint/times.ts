/** When checkpoints are made, in virtual time. */
import { OptionError } from '../../model/option.ts';

/** Virtual times of a run's checkpoints: a list, or one at every multiple of an interval, or both. */
export interface CheckpointTimes {
  /** Virtual time between two of them. */
  readonly every?: number;
  readonly at?: readonly number[];
}

/** The first of `times` after `time`; Infinity for none. */
export function nextTime({ every, at = [] }: CheckpointTimes, time: number): number {
  const listed = at.filter((one) => one > time);
  if (every === undefined) return Math.min(...listed);
  let k = Math.floor(time / every) + 1;
  // A rounded quotient may be off by one.
  while (k > 1 && (k - 1) * every > time) k--;
  while (k * every <= time) k++;
  return Math.min(k * every, ...listed);
}

/** Without given times, a checkpoint is made after each of so many equal parts of the run. */
const PARTS = 10;

/** Checked against the run's end. @throws OptionError */
export function checkpointTimes({ every, at }: CheckpointTimes, end: number): CheckpointTimes {
  const expectWithin = (name: string, time: number) => {
    if (time > 0 && time < end) return;
    throw new OptionError(`--${name}=${time}: must be after 0 and before --end=${end}`);
  };
  if (every !== undefined) expectWithin('checkpoint-every', every);
  for (const time of at ?? []) expectWithin('checkpoint-at', time);
  if (every !== undefined || at !== undefined) {
    return { ...(every !== undefined && { every }), ...(at !== undefined && { at }) };
  }
  if (!Number.isFinite(end)) {
    throw new OptionError('--checkpoint needs --checkpoint-every where --end is infinite');
  }
  return { every: end / PARTS };
}
