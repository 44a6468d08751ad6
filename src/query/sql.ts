/** Pieces of SQL text. */

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A value as a literal; undefined and null are NULL. */
export function literal(value: string | number | bigint | null | undefined): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? quoteText(value) : String(value);
}

/** `CREATE TABLE` with its rows. `columns` are SQL: name and type. */
export function createTable(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | bigint | null | undefined)[])[],
): string[] {
  const create = `CREATE TABLE ${name} (${columns.join(', ')})`;
  if (rows.length === 0) return [create];
  const values = rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n');
  return [create, `INSERT INTO ${name} VALUES ${values}`];
}
