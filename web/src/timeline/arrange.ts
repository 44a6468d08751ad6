/** The order of rows: pinned, hidden, moved, filtered, as the address says. Pure. */
import { rowsShown } from '../sim/row-filter.ts';

/** Ids with commas between them. */
export interface Arrangement {
  readonly pinned: string;
  readonly hidden: string;
  /** Once a row was moved: all rows that existed then, in their order. */
  readonly order: string;
  /** As in heatmaps: `12, 17`, `-3`, `^5`. */
  readonly filter: string;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

const ids = (text: string): readonly string[] => text.split(',').filter(Boolean);

/** Pinned rows first. */
export function arranged<R extends Named>(
  rows: readonly R[],
  { pinned, hidden, order, filter }: Arrangement,
): { readonly shown: readonly R[]; readonly pinned: number; readonly hidden: number } {
  const places = new Map(ids(order).map((id, k) => [id, k]));
  const sorted = rows.toSorted(
    (a, b) => (places.get(a.id) ?? Infinity) - (places.get(b.id) ?? Infinity) || 0,
  );
  const [top, gone] = [new Set(ids(pinned)), new Set(ids(hidden))];
  const first = sorted.filter(({ id }) => top.has(id));
  const left = sorted.filter(({ id }) => !top.has(id) && !gone.has(id));
  const rest = rowsShown(
    left.map(({ name }) => name),
    filter,
  ).map((k) => left[k]);
  return {
    shown: [...first, ...rest],
    pinned: first.length,
    hidden: sorted.length - first.length - left.length,
  };
}

/** A list with `id` added, or removed. */
export const toggled = (list: string, id: string): string =>
  (ids(list).includes(id) ? ids(list).filter((one) => one !== id) : [...ids(list), id]).join(',');

/** The order after `id` has been moved to the place of `to`. */
export function moved(shown: readonly Named[], id: string, to: number): string {
  const order = shown.map((row) => row.id).filter((one) => one !== id);
  order.splice(Math.max(0, Math.min(order.length, to)), 0, id);
  return order.join(',');
}
