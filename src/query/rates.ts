/** Views `…_rate`: the tables of `counter-rates.ts`, whose rows come from a scan. */

import { quoteName } from '../model/sql.ts';
import { SINCE } from './counter-rates.ts';
import type { Table } from './table.ts';

/** `CREATE VIEW NAME_rate` with t0 and t, the interval's ends. `select`: each column of the scan as users see it. */
export function rateView({ name, columns }: Table, select: string, schema: string): string {
  const shown = ['t0', 't', ...columns.slice(1).map((column) => quoteName(column.name))];
  return `CREATE VIEW ${schema}.${quoteName(name)} AS
    SELECT ${shown.join(', ')} FROM (SELECT ${quoteName(SINCE)} AS t0, * FROM (${select})) WHERE t0 IS NOT NULL`;
}
