/** DuckDB's errors, of several lines with a picture, as one line that helps. */

const NO_TABLE = /Table with name (\S+) does not exist/;
const NO_COLUMN = /(?:column "([^"]+)" not found|does not have a column named "([^"]+)")/i;
const CANDIDATES = /Candidate bindings: (.+)/;
const KIND = /^(?:Failed to extract statements: )?(?:[A-Z]\w+ )+Error: /;

/** @param names tables that there are */
export function lineOf(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const table = NO_TABLE.exec(message)?.[1];
  if (table !== undefined) {
    const near = /Did you mean "(?:\w+\.)*(\w+)"/.exec(message)?.[1];
    const meant = near !== undefined && names.includes(near) ? `did you mean ${near}? ` : '';
    return `there is no table ${table}; ${meant}tables: ${names.join(', ')}`;
  }
  const column = NO_COLUMN.exec(message);
  if (column !== null) {
    const candidates = CANDIDATES.exec(message)?.[1].replaceAll('"', '');
    const meant = candidates === undefined ? '' : `; did you mean ${candidates}?`;
    return `there is no column ${column[1] ?? column[2]}${meant}`;
  }
  const lines = message
    .replace(KIND, '')
    .split(/\n+LINE \d+:/)[0]
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return `SQL: ${lines.join(' ') || 'an error without a message'}`;
}
