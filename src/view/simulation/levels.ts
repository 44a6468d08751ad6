/** PEs, their KPs, their LPs: an entity is named by its path, such as `1/3/17`. Runs in the server and in the page. */

export const LEVELS = ['pe', 'kp', 'lp'] as const;
export type Level = (typeof LEVELS)[number];

/** Parts of an entity's name at each level. */
export const DEPTH: Readonly<Record<Level, number>> = { pe: 1, kp: 2, lp: 3 };
export const TABLES: Readonly<Record<Level, string>> = {
  pe: 'ross_pe',
  kp: 'ross_kp',
  lp: 'ross_lp',
};

/** Order of paths by the numbers in them. */
export const { compare: byNumbers } = new Intl.Collator('en', { numeric: true });

/** The first `depth` parts of a path. */
export const upTo = (path: string, depth: number): string =>
  path.split('/').slice(0, depth).join('/');

/** Whether an entity is `within` or part of it; all are within ''. */
export const isWithin = (path: string, within: string): boolean =>
  within === '' || path === within || path.startsWith(`${within}/`);

/** What drilling into `path` shows: PEs at the top, then KPs, then LPs. */
export const levelBelow = (path: string): Level =>
  LEVELS[Math.min(path === '' ? 0 : path.split('/').length, LEVELS.length - 1)];

const WORDS = ['PE', 'KP', 'LP'] as const;

/** `1/3` as “KP 3 of PE 1”; LPs are numbered over the whole run: `1/3/17` is “LP 17”. */
export function nameOf(path: string): string {
  const parts = path.split('/');
  const last = parts[parts.length - 1];
  if (parts.length === 2) return `KP ${last} of PE ${parts[0]}`;
  return `${WORDS[parts.length - 1] ?? 'entity'} ${last}`;
}

/** The same if it is obvious to which entity it belongs. */
export function shortNameOf(path: string): string {
  const parts = path.split('/');
  return parts.length === 2 ? `KP ${path}` : nameOf(path);
}
