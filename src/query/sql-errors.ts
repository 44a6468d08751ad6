/** DuckDB's errors, of several lines with a picture, as one line that helps. */

const NO_TABLE = /Table with name (\S+) does not exist/;
const NO_COLUMN = /(?:column "([^"]+)" not found|does not have a column named "([^"]+)")/i;
const CANDIDATES = /Candidate bindings: (.+)/;
const KIND = /^(?:Failed to extract statements: )?(?:[A-Z]\w+ )+Error: /;

const PICTURE = /\n+LINE (\d+): (.*)\n( *)\^/;
/** What stands for the parts of a long line that a picture leaves out. */
const LEFT_OUT = '...';

/** Where the error is, by the picture of it: ` at line 2, column 8`, both from 1; '' where there is none. */
function placeOf(message: string, sql: string): string {
  const [, line, shown, indent] = PICTURE.exec(message) ?? [];
  if (line === undefined) return '';
  const text = sql.split('\n')[Number(line) - 1] ?? '';
  const caret = indent.length - `LINE ${line}: `.length;
  const isCut = shown.startsWith(LEFT_OUT) && !text.startsWith(LEFT_OUT);
  const [skipped, part] = isCut ? [LEFT_OUT.length, shown.slice(LEFT_OUT.length)] : [0, shown];
  const begin = isCut ? text.indexOf(part.replace(/\.\.\.$/, '')) : 0;
  const column = caret - skipped + begin + 1;
  return begin < 0 || column < 1 ? ` at line ${line}` : ` at line ${line}, column ${column}`;
}

/**
 * Prefixes of layers: for a missing table of one layer no table of another is suggested, however similar its name.
 */
const LAYER = /^(?:ross|sim|node|region|geopm)_/i;
const isMeant = (near: string, table: string) => {
  const layer = LAYER.exec(table)?.[0].toLowerCase();
  return layer === undefined || near.startsWith(layer);
};

/** Names in an error: a file may have thousands. */
const MOST_NAMES = 100;
const listed = (names: readonly string[]) =>
  names.length <= MOST_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more (FROM metrics)`;

/**
 * @param names tables that there are
 * @param sql the statement, where the user wrote it: errors then say where
 */
export function lineOf(error: unknown, names: readonly string[], sql = ''): string {
  const message = error instanceof Error ? error.message : String(error);
  const place = sql === '' ? '' : placeOf(message, sql);
  const table = NO_TABLE.exec(message)?.[1];
  if (table !== undefined) {
    const near = /Did you mean "(?:\w+\.)*(\w+)"/.exec(message)?.[1];
    const isNear = near !== undefined && names.includes(near) && isMeant(near, table);
    const meant = isNear ? `did you mean ${near}? ` : '';
    return `there is no table ${table}${place}; ${meant}tables: ${listed(names)}`;
  }
  const column = NO_COLUMN.exec(message);
  if (column !== null) {
    const candidates = CANDIDATES.exec(message)?.[1].replaceAll(/"|(?<![^ ]): /g, '');
    const meant = candidates === undefined ? '' : `; did you mean ${candidates}?`;
    return `there is no column ${column[1] ?? column[2]}${place}${meant}`;
  }
  const lines = message
    .replace(KIND, '')
    .split(/\n+LINE \d+:|\n+\s*Possible solutions:/)[0]
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return `SQL: ${lines.join(' ') || 'an error without a message'}${place}`;
}

/** Whether a statement failed as it needed more memory than its limit. */
export const isOfMemory = (error: unknown): boolean =>
  error instanceof Error && /^Out of Memory Error/.test(error.message);
