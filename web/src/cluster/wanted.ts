/** Which jobs of an archive are selected: stored in the address, requested from the server. */
import type { Page } from '../page.svelte.ts';
import type { Asking } from '../source.ts';

/** Fields that jobs are chosen by, one value each. */
export const FIELDS = [
  ...(['user', 'account', 'queue', 'application', 'state', 'flag', 'host'] as const),
];
export type WantedField = (typeof FIELDS)[number];

/** What of the address chooses jobs. */
const KEYS = [...FIELDS, 'words', 'where'] as const;
type Key = (typeof KEYS)[number];

/** Its name in the address. */
export const keyOf = (name: string): string => `jobs.${name}`;

/** The query for the jobs that the address speaks of, but for some of its keys; those of the window where `timed`. */
export function jobsWanted(page: Page, timed: boolean, without: readonly Key[] = []): Asking {
  const said = (key: Key) => {
    const value = without.includes(key) ? '' : page.state.more(keyOf(key));
    return value === '' ? undefined : value;
  };
  const [from, to] = timed && page.brushed ? (page.window ?? []) : [];
  return { ...Object.fromEntries(KEYS.map((key) => [key, said(key)])), from, to };
}

/** Chooses jobs by fields; '' does not. “Back” undoes it. */
export function choose(page: Page, fields: Readonly<Partial<Record<Key, string>>>): void {
  const { more } = page.state.now;
  const change = Object.entries(fields).map(([key, value]) => [keyOf(key), value]);
  page.state.set({ more: { ...more, ...Object.fromEntries(change) } }, true);
}
