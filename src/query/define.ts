/** What a recording's schema is made of, as SQL. */
import { rateTable } from './counter-rates.ts';
import { factStatements } from './facts.ts';
import { gvtStatements } from './gvt.ts';
import type { LoadedTables } from './load.ts';
import { peOnNode } from './pe-on-node.ts';
import { rateScanView, rateView } from './rates.ts';
import type { Sources } from './sources.ts';
import { quoteName, quoteText } from './sql.ts';
import type { Table } from './table.ts';

export interface Definition {
  /** Table functions to register first, by their names. */
  readonly scans: readonly (readonly [name: string, table: Table])[];
  /** Views over them, and tables with what is known of the recording. */
  readonly stored: readonly string[];
  /** Views over those; they read nothing themselves. */
  readonly derived: readonly string[];
}

/** @param scan how its table functions' names begin */
export function define(
  sources: Sources,
  { tables, suspects, start, clocks }: LoadedTables,
  schemaName: string,
  scan: string,
): Definition {
  const schema = quoteName(schemaName);
  const scans: [string, Table][] = [];
  const views: string[] = [];
  for (const [n, table] of tables.entries()) {
    scans.push([`${scan}_${n}`, table]);
    const name = `${schema}.${quoteName(table.name)}`;
    views.push(`CREATE VIEW ${name} AS ${selectFrom(table, `${scan}_${n}`)}`);
    views.push(`COMMENT ON VIEW ${name} IS ${quoteText(table.help)}`);
    const rates = rateTable(table);
    if (rates === null) continue;
    scans.push([`${scan}_${n}_rate`, rates]);
    views.push(rateScanView(rates, selectFrom(rates, `${scan}_${n}_rate`), schema));
  }
  const facts = { tables, suspects, start, clocks };
  return {
    scans,
    stored: [
      ...(schemaName === 'main' ? [] : [`CREATE SCHEMA ${schema}`]),
      ...views,
      ...factStatements(sources, facts, schema),
    ],
    derived: derived(tables, schema),
  };
}

function derived(tables: readonly Table[], schema: string): string[] {
  const byName = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const statements = [...tables.map((table) => rateView(table, schema)), peOnNode(byName, schema)];
  return [
    ...statements.filter((statement) => statement !== null),
    ...gvtStatements(byName, schema),
  ];
}

/** What users see of a scan: labels as texts. */
function selectFrom(table: Table, scan: string): string {
  const columns = table.columns.map(({ name, labels }) => {
    const column = quoteName(name);
    if (labels === null) return column;
    if (labels.length === 0) return `NULL::VARCHAR AS ${column}`;
    // Index 0 is outside the list, which gives null: missing.
    return `list_extract([${labels.map(quoteText).join(', ')}], ${column}) AS ${column}`;
  });
  return `SELECT ${(table.timed ? ['t', ...columns] : columns).join(', ')} FROM ${scan}()`;
}
