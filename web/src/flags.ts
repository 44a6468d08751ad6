/** Positions of flags in a drawn field. Pure. */
import type { Flag } from '../../src/view/facts/flag.ts';

/** If several flags are at one place, the kind that is shown. */
const FIRST: readonly Flag['kind'][] = ['note', 'finding', 'mark'];
const shownOf = (...kinds: readonly Flag['kind'][]): Flag['kind'] =>
  FIRST.find((kind) => kinds.includes(kind)) ?? 'mark';

/** One or several flags at a place of the field. */
export interface FlagPlace {
  readonly kind: Flag['kind'];
  /** Fraction of the width; negative if only the end of a stretch is visible. */
  readonly at: number;
  /** The farthest end; if it is not after `at`, there is no stretch. */
  readonly end: number;
  /** A line for each flag. */
  readonly text: string;
}

/**
 * The visible flags; those closer to each other than `near` become one.
 * @param share fraction of the field's width at which a moment is, 0 to 1 if inside
 */
export function flagPlaces(
  flags: readonly Flag[],
  share: (seconds: number) => number,
  near: number,
): readonly FlagPlace[] {
  const places: FlagPlace[] = [];
  for (const { kind, from, to, text } of flags) {
    const at = share(from);
    const end = to === null ? at : share(to);
    if (!(at <= 1 && end >= 0)) continue;
    const last = places.at(-1);
    if (last === undefined || at < 0 || !(at - last.at < near)) {
      places.push({ kind, at, end, text });
      continue;
    }
    places[places.length - 1] = {
      ...last,
      kind: shownOf(last.kind, kind),
      end: Math.max(last.end, end),
      text: `${last.text}\n${text}`,
    };
  }
  return places;
}

/** Fraction of the run that is shown on each side of a flag. */
const AROUND = 0.05;

/** The window that shows a flag. */
export function flagWindow(
  { from, to }: Flag,
  [first, last]: readonly [number, number],
): readonly [number, number] {
  const around = AROUND * (last - first);
  return [Math.max(first, from - around), Math.min(last, (to ?? from) + around)];
}
