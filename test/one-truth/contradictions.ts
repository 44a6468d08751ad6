/** What one finding says against another. */
import { findingsOf, type Place } from './place.ts';

/** Options that one finding wants larger and another smaller, or that two want to have different values. */
export async function contradictions(place: Place): Promise<string[]> {
  const turns = new Map<string, Set<string>>();
  for (const { advice, turn } of await findingsOf(place)) {
    for (const [option, value] of Object.entries(turn ?? {})) {
      const name = `--${option} (value)`;
      turns.set(name, (turns.get(name) ?? new Set()).add(String(value)));
    }
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
