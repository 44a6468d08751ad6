/** How well each file's times are placed on the recording's timeline. */
import type { Suspect } from './part.ts';

/**
 * - `anchor`: `recording.json` says the time of day of the file's time 0
 * - `file`: the file itself says it
 * - `wall clock`: its records have times of day
 * - `assumed`: it is not known; its time 0 is taken to be the timeline's
 * - `untimed`: its records have no times
 */
export type ClockPlacement = 'anchor' | 'file' | 'wall clock' | 'assumed' | 'untimed';

export interface ClockPlace {
  readonly file: string;
  readonly table: string;
  readonly placement: ClockPlacement;
  /** Time of day of its time 0, ns since 1970; null where it is not known, or its records have times of day. */
  readonly zero: bigint | null;
  /** Seconds that are added to its times: they are then since the recording's start. */
  readonly shift: number;
  /** Seconds by which its times may be off against those of the recording's other files; null where it is not known. */
  readonly bound: number | null;
  /** In words. */
  readonly quality: string;
}

const QUALITIES: Readonly<Record<ClockPlacement, string>> = {
  anchor: 'as good as the clock of its host: recording.json says the time of day of its time 0',
  file: 'as good as the clock of its host: the file says the time of day of its time 0',
  'wall clock': 'as good as the clock of its host: its records have times of day',
  assumed:
    'unknown: nothing says when its time 0 was, so it is taken to be the start of the timeline',
  untimed: 'its records have no times',
};

export const qualityOf = (placement: ClockPlacement): string => QUALITIES[placement];

/** Anchors that differ by more than this, in seconds, contradict each other: clocks of synchronised hosts differ by less. */
const MOST_APART_SECONDS = 1;
/** Records this long before or after a recording are not of it, s. */
const MARGIN_SECONDS = 60;

const seconds = (ns: bigint): number => Number(ns) / 1e9;
const date = (s: number): string => new Date(1000 * s).toISOString();
const apart = (s: number): string => `${Number(Math.abs(s).toPrecision(3))} s`;

/** Two anchors of one file that differ. */
export function contradiction(file: string, own: bigint, listed: bigint): Suspect | null {
  const difference = seconds(own - listed);
  if (Math.abs(difference) <= MOST_APART_SECONDS) return null;
  const which = difference > 0 ? 'later' : 'earlier';
  return {
    file,
    what: `clock anchors contradict each other: the file says that its time 0 was ${date(seconds(own))}, recording.json ${date(seconds(listed))}; placed by the file, ${apart(difference)} ${which}: correct zero in recording.json`,
  };
}

/** Times of day that lie outside of the time in which the recording was made. */
export function outside(
  file: string,
  /** What has these times. */
  subject: string,
  span: { readonly from: number; readonly to: number },
  made: { readonly from: number; readonly to: number | null },
): Suspect | null {
  const early = made.from - MARGIN_SECONDS - span.from;
  const late = made.to === null ? 0 : span.to - made.to - MARGIN_SECONDS;
  if (early <= 0 && late <= 0) return null;
  const [what, time, of] =
    early > 0
      ? ['began', span.from, `began ${date(made.from)}`]
      : ['ended', span.to, `ended ${date(made.to as number)}`];
  return {
    file,
    what: `clock anchors contradict each other: ${subject} ${what} ${date(time)}, the recording ${of}; placed by its own times: the clocks of the hosts differ, or the file is of another run`,
  };
}
