/** What one finding says against another. */
import { findingsOf, type Place } from './place.ts';

/** Options that one finding wants larger and another smaller. */
export async function contradictions(place: Place): Promise<string[]> {
  const turns = new Map<string, Set<string>>();
  for (const { advice } of await findingsOf(place)) {
    for (const [, way, options] of advice.matchAll(
      /\b(smaller|larger) (--[a-z-]+(?:(?:,| or) (?:a smaller |a larger )?--[a-z-]+)*)/g,
    )) {
      for (const [option] of options.split('--max-opt-lookahead')[0].matchAll(/--[a-z-]+/g)) {
        turns.set(option, (turns.get(option) ?? new Set()).add(way));
      }
    }
  }
  return [...turns].filter(([, ways]) => ways.size > 1).map(([option]) => option);
}
