/** Which tables of GEOPM's files there are, and their columns. */
import type { OpenRecording } from '../../query/index.ts';
import type { RegionColumn } from '../../view/facts/regions.ts';

interface MetricRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly unit: string;
  readonly help: string;
}

/** Columns by table. */
export async function geopmColumns(
  sql: OpenRecording,
): Promise<ReadonlyMap<string, readonly RegionColumn[]>> {
  const rows = await sql.query<MetricRow>(
    "SELECT table_name, column_name, unit, help FROM metrics WHERE table_name LIKE 'geopm%' AND kind IS NOT NULL",
  );
  const found = new Map<string, RegionColumn[]>();
  for (const { table_name, column_name, unit, help } of rows) {
    const list = found.get(table_name) ?? [];
    found.set(table_name, list);
    list.push({ key: column_name, unit, help });
  }
  return found;
}
