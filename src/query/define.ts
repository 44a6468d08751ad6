/** What a recording's schema is made of, as SQL. */

import { quoteName, quoteText, textOf } from '../model/sql.ts';
import { rateTable } from './counter-rates.ts';
import { type FactTable, factTables } from './facts.ts';
import { gvtStatements } from './gvt.ts';
import type { LoadedTables } from './load.ts';
import { peOnNode } from './pe-on-node.ts';
import { rankOnNode } from './rank-on-node.ts';
import { rateView } from './rates.ts';
import { scanCall } from './scan.ts';
import type { Sources } from './sources.ts';
import type { Table } from './table.ts';

interface Definition {
  /** To register first: see `registerScans`. */
  readonly scans: readonly Table[];
  /** Views over them. */
  readonly stored: readonly string[];
  /** Tables of facts about the recording, to be appended. */
  readonly facts: readonly FactTable[];
  /** Views over those; they read nothing themselves. */
  readonly derived: readonly string[];
}

/** @param scan how its table functions' names begin; own: how many tables have one of their own, all where it is not given */
export function define(
  sources: Sources,
  { tables, start, clocks }: LoadedTables,
  schemaName: string,
  scan: string,
  own?: number,
): Definition {
  const schema = quoteName(schemaName);
  const scans: Table[] = [];
  const scanOf = (table: Table) => selectFrom(table, scanCall(scan, scans.push(table) - 1, own));
  const views: string[] = [];
  for (const table of tables) {
    const name = `${schema}.${quoteName(table.name)}`;
    views.push(`CREATE VIEW ${name} AS ${scanOf(table)}`);
    if (table.help !== '') {
      views.push(`COMMENT ON VIEW ${name} IS ${quoteText(table.help)}`);
    }
    const rates = rateTable(table);
    if (rates !== null) views.push(rateView(rates, scanOf(rates), schema));
  }
  const facts = { tables, start, clocks };
  return {
    scans,
    stored: [...(schemaName === 'main' ? [] : [`CREATE SCHEMA IF NOT EXISTS ${schema}`]), ...views],
    facts: factTables(sources, facts),
    derived: derived(tables, schema),
  };
}

function derived(tables: readonly Table[], schema: string): string[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const joined = [peOnNode(byName, schema), rankOnNode(byName, schema)];
  return [...joined.filter((one) => one !== null), ...gvtStatements(byName, schema)];
}

/** What users see of a scan: labels as texts. */
function selectFrom(table: Table, scan: string): string {
  const columns = table.columns.map(({ name, labels }) => {
    const column = quoteName(name);
    if (labels === null) return column;
    if (labels.length === 0) return `NULL::VARCHAR AS ${column}`;
    // Index 0 is outside the list, which gives null: missing.
    return `list_extract([${labels.map(textOf).join(', ')}], ${column}) AS ${column}`;
  });
  return `SELECT ${(table.timed ? ['t', ...columns] : columns).join(', ')} FROM ${scan}`;
}
