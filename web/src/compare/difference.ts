/** Two recordings bin by bin: B minus A, each PE of one against the same PE of the other. */
import type { EntityBins } from '../../../src/view/series/table.ts';
import type { HeatPicture, HeatRow } from '../parts/heat.ts';
import { scaleOf } from '../parts/palettes.ts';

type Means = Pick<EntityBins, 'entity' | 'mean'>;

export interface Compared {
  readonly heat: HeatPicture;
  /** PEs that only one of them has. */
  readonly unmatched: number;
  /** The row and bin with the largest change; null if nothing changed. */
  readonly most: { readonly row: HeatRow; readonly bin: number; readonly value: number } | null;
}

export function difference(
  a: readonly Means[],
  b: readonly Means[],
  name: (entity: string) => string,
): Compared {
  const inB = new Map(b.map((one) => [one.entity, one]));
  const rows: HeatRow[] = a.flatMap(({ entity, mean }) => {
    const other = inB.get(entity);
    if (other === undefined) return [];
    const values = Float32Array.from(mean, (value, k) => other.mean[k] - value);
    return [{ id: entity, label: name(entity), values }];
  });
  let most: Compared['most'] = null;
  for (const row of rows) {
    for (let bin = 0; bin < row.values.length; bin++) {
      const value = row.values[bin];
      if (Math.abs(value) > Math.abs(most?.value ?? 0)) most = { row, bin, value };
    }
  }
  return {
    heat: {
      rows,
      scale: scaleOf(
        rows.map(({ values }) => values),
        'diverging',
      ),
    },
    unmatched: a.length + b.length - 2 * rows.length,
    most,
  };
}
