/** Values, times and entities as text. */
import { nameOf } from '../../../src/view/simulation/levels.ts';
import { counted, duration, percent, short, whole } from '../figures.ts';

export { counted, duration, whole };

import type { Page } from '../page.svelte.ts';
import type { ViewState } from '../state.ts';

const THINGS: Readonly<Record<string, string>> = {
  '{event}': 'events',
  '{rollback}': 'rollbacks',
  '{gvt}': 'GVTs',
  '{collection}': 'collections',
  '{reduction}': 'reductions',
  '{virtual}': 'of virtual time',
};

const LABELS: Readonly<Record<string, string>> = {
  events_processed: 'Events handled',
  efficiency: 'Efficiency',
  rolled_back_share: 'Rolled back',
  secondary_share: 'Secondary rollbacks',
};

/** A unit as words: `{event}/s` as “events/s”. */
export const unitWords = (unit: string): string =>
  unit.replace(/^\{\w+\}/, (thing) => THINGS[thing] ?? thing.slice(1, -1));

/** `{event}/s` as “1.23 k events/s”. */
export function withUnit(value: number, unit: string): string {
  if (Number.isNaN(value)) return 'not measured';
  if (unit === '%') return percent(value);
  if (unit === '% of time') return `${percent(value)} of the time`;
  const words = unitWords(unit);
  return words === '' ? short(value) : `${short(value)} ${words}`;
}

export const figureOf = (unit: string) => (value: number) =>
  unit.startsWith('%') ? percent(value) : short(value);

/** `events_rolled_back` as “Events rolled back”. */
export function metricLabel(key: string): string {
  const known = LABELS[key];
  if (known !== undefined) return known;
  const words = key.replaceAll('_', ' ').replace(/\bgvt\b/i, 'GVT');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** A stretch of time on the page's axis. */
export function stretch({ axis }: Page, from: number, to: number): string {
  const [a, b] = [axis.of(from), axis.of(to)];
  const step = Math.max(1e-9, (b - a) / 2);
  return `${axis.text(a, step).replace(/ s$/, '')} to ${axis.text(b, step)}`;
}

export const entityWords = (path: string): string => (path === '' ? 'all PEs' : nameOf(path));

const PATH = /^\d+(\/\d+){0,2}$/;

/** Path of the selected entity: the one drilled into, or the only PE shown; '' for all. */
export function lookedAt({ state }: Page): string {
  const { path, pe } = state.now;
  if (PATH.test(path)) return path;
  return pe === null ? '' : String(pe);
}

/** Looks at an entity in all views; '' at all. */
export function lookAt(
  { state }: Page,
  path: string,
  more: Readonly<Record<string, string>> = {},
  change: Partial<ViewState> = {},
) {
  const pe = path === '' ? null : Number(path.split('/')[0]);
  state.set({ ...change, path, pe, more: { ...state.now.more, ...more } });
}
