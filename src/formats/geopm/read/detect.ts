/** Finds out which of GEOPM's files a file is. */
import type { Detection } from '../../format.ts';
import { type TableHead, tableHead } from './table-file.ts';
import { isTextReport } from './text-report.ts';

export interface GeopmTableFile {
  readonly what: 'trace' | 'profile' | 'session' | 'session-table';
  readonly head: TableHead;
}

export type GeopmFile =
  | { readonly what: 'report' | 'text-report' | 'session-report' }
  | GeopmTableFile;

export const isTable = (file: GeopmFile): file is GeopmTableFile => 'head' in file;

export interface GeopmDetection {
  readonly file: GeopmFile;
  readonly detection: Detection;
}

/** Triscope's profile traces name the thread as well. */
const PROFILES = ['TIME|PROCESS|EVENT|SIGNAL', 'TIME|PROCESS|EVENT|SIGNAL|THREAD'];
const VERSION = /^GEOPM Version:\s*"?([^\s"]+)/m;
const found = (
  file: GeopmFile,
  era: string,
  because: string,
  confidence = 0.95,
): GeopmDetection => ({
  file,
  detection: { confidence, because, era },
});

/** Looks at the beginning of a file. Null if it is none of GEOPM's. */
export function detectGeopm(head: Uint8Array): GeopmDetection | null {
  if (head.subarray(0, 4096).includes(0)) return null;
  const text = new TextDecoder().decode(head);
  const version = VERSION.exec(text);
  const first = text.slice(0, 1 << 14);
  if (version !== null && /^(---\s*\n)?\s*(#.*\n\s*)*GEOPM Version:/.test(first)) {
    const old = isTextReport(text) && !/^Hosts:/m.test(text);
    return found(
      { what: old ? 'text-report' : 'report' },
      `GEOPM report, version ${version[1]}`,
      'it begins with GEOPM Version',
    );
  }
  const lines = text.split('\n');
  if (/^#+\s*geopm\s/i.test(lines[0]) && isTextReport(text)) {
    return found(
      { what: 'text-report' },
      `GEOPM report as text, ${lines[0].replace(/#+/g, '').trim()}`,
      'its first line says geopm and it has regions with hashes',
    );
  }
  if (/^"?(host|sample-time-first)"?:/m.test(lines[0] ?? '') && /^sample-count:/m.test(first)) {
    return found(
      { what: 'session-report' },
      'GEOPM session report',
      'it has a sample-count and metrics',
    );
  }
  return detectTable(lines);
}

function detectTable(lines: readonly string[]): GeopmDetection | null {
  const head = tableHead(lines);
  if (head === null) return null;
  const { columns, delimiter, properties } = head;
  const version = properties.get('geopm_version');
  const era = (what: string) => (version === undefined ? what : `${what}, version ${version}`);
  const names = columns.join('|');
  if (PROFILES.includes(names)) {
    return found({ what: 'profile', head }, era('GEOPM profile trace'), `its columns are ${names}`);
  }
  if (version !== undefined) {
    return found({ what: 'trace', head }, era('GEOPM trace'), 'it begins with # geopm_version');
  }
  if (columns.includes('sample-time-first')) {
    return found(
      { what: 'session-table', head },
      'GEOPM session report (CSV)',
      'it has a column sample-time-first',
    );
  }
  const quoted = lines[head.line - 1].startsWith('"');
  const signals = columns.every((name) =>
    /^[A-Z][A-Z0-9_]*(::[A-Za-z0-9_:#.]+)?(-[a-z_]+-\d+)?$/.test(name),
  );
  if (signals && columns.includes('TIME') && delimiter === '|') {
    return found(
      { what: 'trace', head },
      'GEOPM trace without a header',
      'its columns are signals',
      0.9,
    );
  }
  if (quoted && signals) {
    return found(
      { what: 'session', head },
      'GEOPM session',
      'its columns are signals in quotes',
      0.9,
    );
  }
  return null;
}
