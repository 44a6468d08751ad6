/**
 * `ross.csv`: one line per run. ROSS's columns first, under ROSS's names and in its order (an empty cell is
 * something that does not exist here), then ours. The header is written where the file is new.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import { csvText } from '../model/csv.ts';
import { TriscopeError } from '../model/error.ts';
import type { RunResult } from '../sim/statistics.ts';
import { MORE_COLUMNS, STATISTICS, type StatisticsField } from './statistics-fields.ts';

/** The file cannot be written to, or is of another layout. */
class CsvError extends TriscopeError {
  override readonly name = 'CsvError';
}

const FIELDS: readonly StatisticsField[] = [
  ...STATISTICS.flatMap(({ fields }) => fields),
  ...MORE_COLUMNS,
].filter(({ column }) => column !== undefined);

/** The header line, without its end. */
const CSV_HEADER = FIELDS.map(({ column }) => column).join(',');

function cell(value: number | string | null): string {
  if (value === null) return '';
  return csvText(String(value));
}

/** The line of one run, without its end. Numbers are unrounded. */
export function csvLine(result: RunResult): string {
  return FIELDS.map(({ value }) => cell(value(result))).join(',');
}

/**
 * Appends the line of `result` to `file`.
 * @throws CsvError where it cannot be written, or has another header
 */
export function appendCsv(file: string, result: RunResult): void {
  try {
    let before = '';
    try {
      before = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const first = before.split(/\r?\n/, 1)[0];
    if (first !== '' && first !== CSV_HEADER) {
      throw new CsvError(
        `--ross-csv: ${file} has other columns; move it away or name another file`,
      );
    }
    const start = first === '' ? `${CSV_HEADER}\n` : before.endsWith('\n') ? '' : '\n';
    appendFileSync(file, `${start}${csvLine(result)}\n`);
  } catch (error) {
    if (error instanceof CsvError) throw error;
    throw new CsvError(`--ross-csv: ${file}: ${(error as Error).message}`);
  }
}
