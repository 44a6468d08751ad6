/** Whether a path is a report of GEOPM: of what cannot be one, hardly anything is read. */
import { statSync } from 'node:fs';
import { identify } from './registry.ts';
import { beginningOf, openFile } from './source.ts';

/** How reports begin, but not traces. */
const BEGINNING = /^\s*(---|#(?! geopm_version)|"?GEOPM Version|"?host|"?sample-time)/i;
const BEGINNING_BYTES = 64;

/** Whether a path is a file that is a report of GEOPM. @throws FormatError for a file that cannot be read */
export function isReport(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const beginning = new TextDecoder().decode(beginningOf(path, BEGINNING_BYTES));
  if (!BEGINNING.test(beginning)) return false;
  const source = openFile(path);
  try {
    return /report/i.test(identify(source)?.detection.era ?? '');
  } finally {
    source.close();
  }
}
