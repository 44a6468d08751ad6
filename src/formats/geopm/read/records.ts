/** GEOPM's files as rows: sections of reports, rows of tables. */
import type {
  CellValue,
  Damage,
  FileSource,
  RecordBlock,
  RecordKind,
  ScanOptions,
} from '../../format.ts';
import { FormatError } from '../../format.ts';
import { visible } from '../../visible.ts';
import { type GeopmFile, type GeopmTableFile, isTable } from './detect.ts';
import { RowDoubts } from './doubts.ts';
import type { Oddity } from './oddity.ts';
import { ownRows } from './own-section.ts';
import { type GeopmReport, type ReportsRead, readYamlReports } from './report.ts';
import { readSessionReports } from './session-report.ts';
import { rowsOf } from './table-file.ts';
import { readTextReport } from './text-report.ts';

export interface Row {
  readonly kind: RecordKind;
  readonly values: readonly CellValue[];
  /** From 1. */
  readonly line: number;
  /** Byte; of rows of reports that of the file, whose place is the line. */
  readonly offset: number;
}

/** Reports are read whole. */
const MOST_REPORT = 1 << 28;

const kindOf = (name: string, keys: readonly string[]): RecordKind => ({
  name,
  keys,
  payload: [],
  bare: true,
});

/** A file's text. @throws FormatError where it is too large to be a report */
export function wholeText(source: FileSource): string {
  if (source.size > MOST_REPORT) {
    const what = `a report of ${source.size} bytes: at most ${MOST_REPORT} are read`;
    throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 });
  }
  const bytes = new Uint8Array(source.size);
  return new TextDecoder().decode(bytes.subarray(0, source.read(0, bytes)));
}

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

const CUT_LINE = 'the line has no end: its last value may be cut off';

/** Where a report ends before all was written. GEOPM ends each line, and each host with its totals. */
function missingEnd(text: string, { reports }: ReportsRead): Oddity[] {
  const line = lineCount(text);
  const cut = text.endsWith('\n') ? [] : [{ line, what: CUT_LINE }];
  const host = reports.at(-1)?.hosts.at(-1);
  if (host === undefined || host.sections.at(-1)?.section === 'application') return cut;
  return [...cut, { line, what: `ends before the Application Totals of ${host.name}` }];
}

/** A file's reports, and what is strange about them. @throws FormatError */
export function readReports(source: FileSource, what: 'report' | 'text-report'): ReportsRead {
  const text = wholeText(source);
  const read = what === 'report' ? readYamlReports(text) : readTextReport(text);
  return { ...read, oddities: [...read.oddities, ...missingEnd(text, read)] };
}

function* sectionRows(reports: readonly GeopmReport[]): Generator<Row, void> {
  const kinds = new Map<string, RecordKind>();
  for (const whole of reports.flatMap(({ hosts }) => hosts)) {
    const { name: host, sections } = whole;
    for (const { section, region, hash, values, line } of sections) {
      const keys = ['host', 'section', 'region', 'hash', ...values.keys()];
      const name = `${section} ${keys.join('\t')}`;
      let kind = kinds.get(name);
      if (kind === undefined) {
        kind = kindOf(section, keys);
        kinds.set(name, kind);
      }
      yield { kind, values: [host, section, region, hash, ...values.values()], line, offset: 0 };
    }
    for (const row of ownRows(whole)) yield { ...row, line: 0, offset: 0 };
  }
}

const KIND_OF_TABLE = {
  trace: 'trace',
  profile: 'profile_event',
  session: 'session',
  'session-table': 'session_report',
} as const;

function* tableRows(
  source: FileSource,
  file: GeopmTableFile,
  salvage: boolean,
  damaged?: (damage: Damage) => void,
): Generator<Row, void> {
  const kind = kindOf(KIND_OF_TABLE[file.what], file.head.columns);
  const passOver = salvage ? (damage: Damage) => damaged?.(damage) : undefined;
  const doubts = new RowDoubts(file, (line, what) => damaged?.(doubt(source, line, what)));
  for (const row of rowsOf(source, file.head, passOver)) {
    const { line, offset, whole } = row;
    yield { kind, values: doubts.values(row), line, offset };
    if (!whole) damaged?.({ ...doubt(source, line, CUT_LINE), offset });
  }
  doubts.end();
}

const doubt = ({ path }: FileSource, line: number, what: string): Damage => ({
  path,
  offset: -1,
  line,
  what: visible(what),
  skipped: 0,
  kept: true,
});

/**
 * The rows of a file.
 * @param damaged hears of what was passed over, and of what was read and may be wrong
 * @throws FormatError at damage, unless told to salvage
 */
export function* rowsIn(
  source: FileSource,
  file: GeopmFile,
  options: ScanOptions,
  damaged?: (damage: Damage) => void,
): Generator<Row, void> {
  if (file.what === 'report' || file.what === 'text-report') {
    const { reports, oddities } = readReports(source, file.what);
    yield* sectionRows(reports);
    for (const { line, what } of oddities) damaged?.(doubt(source, line, what));
  } else if (!isTable(file)) {
    const text = wholeText(source);
    const { reports, oddities } = readSessionReports(text);
    for (const report of reports) {
      const kind = kindOf('session_report', [...report.keys()]);
      yield { kind, values: [...report.values()], line: 1, offset: 0 };
    }
    for (const { line, what } of oddities) damaged?.(doubt(source, line, what));
    if (!text.endsWith('\n')) damaged?.(doubt(source, lineCount(text), CUT_LINE));
  } else {
    yield* tableRows(source, file, options.salvage === true, damaged);
  }
}

/** Rows as the block that visitors get. */
export class RowBlock implements RecordBlock {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  get length(): number {
    return this.#rows.length;
  }

  kind(record: number): RecordKind {
    return this.#rows[record].kind;
  }

  offset(record: number): number {
    return this.#rows[record].offset;
  }

  cell(record: number, key: number): CellValue {
    return this.#rows[record].values[key] ?? null;
  }

  payload(): null {
    return null;
  }
}
