/** GEOPM's files as rows: sections of reports, rows of tables. */
import type { CellValue, Damage, FileSource, RecordBlock, RecordKind } from '../../format.ts';
import { FormatError } from '../../format.ts';
import { visible } from '../../visible.ts';
import { type GeopmFile, type GeopmTableFile, isTable } from './detect.ts';
import { RowDoubts } from './doubts.ts';
import type { Oddity } from './oddity.ts';
import { ownRows } from './own-section.ts';
import { type GeopmReport, type ReportsRead, readYamlReports } from './report.ts';
import { readSessionReports } from './session-report.ts';
import { TableLines } from './table-file.ts';
import { readTextReport } from './text-report.ts';

export interface TextRow {
  readonly kind: RecordKind;
  readonly values: readonly CellValue[];
  /** Number of the line, from 1. */
  readonly line: number;
  /** Byte at which the row begins; for rows of reports the byte at which the file begins, since they are found by line. */
  readonly offset: number;
}

/** The largest report that is read, in bytes: reports are read as a whole. */
const MOST_REPORT_BYTES = 1 << 28;

const kindOf = (name: string, keys: readonly string[]): RecordKind => ({
  name,
  keys,
  payload: [],
  bare: true,
});

/** A file's text. @throws FormatError if it is too large to be a report */
function wholeText(source: FileSource): string {
  if (source.size > MOST_REPORT_BYTES) {
    const what = `a report of ${source.size} bytes: at most ${MOST_REPORT_BYTES} are read`;
    throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 });
  }
  const bytes = new Uint8Array(source.size);
  return new TextDecoder().decode(bytes.subarray(0, source.read(0, bytes)));
}

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

const CUT_LINE = 'the line has no end: its last value may be cut off';

/** Where a report ends before all of it was written. GEOPM ends each line, and each host with its totals. */
function missingEnd(text: string, { reports }: ReportsRead): Oddity[] {
  const line = lineCount(text);
  const cut = text.endsWith('\n') ? [] : [{ line, what: CUT_LINE }];
  const host = reports.at(-1)?.hosts.at(-1);
  if (host === undefined || host.sections.at(-1)?.section === 'application') return cut;
  return [...cut, { line, what: `ends before the Application Totals of ${host.name}` }];
}

/** A file's reports and their suspect places. @throws FormatError */
function readReports(source: FileSource, what: 'report' | 'text-report'): ReportsRead {
  const text = wholeText(source);
  const read = what === 'report' ? readYamlReports(text) : readTextReport(text);
  return { ...read, oddities: [...read.oddities, ...missingEnd(text, read)] };
}

function* sectionRows(reports: readonly GeopmReport[]): Generator<TextRow, void> {
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

export type Damaged = (damage: Damage) => void;

/** Rows of a trace or a table, read in one go or, while the file grows, in several. */
export class TableRows {
  private readonly source: FileSource;
  private readonly kind: RecordKind;
  private readonly doubts: RowDoubts;
  private readonly lines: TableLines;
  private readonly damaged: Damaged | undefined;

  /** @param salvage skip rows whose number of values differs from the number of names, instead of throwing */
  constructor(source: FileSource, file: GeopmTableFile, salvage: boolean, damaged?: Damaged) {
    this.source = source;
    this.kind = kindOf(KIND_OF_TABLE[file.what], file.head.columns);
    this.doubts = new RowDoubts(file, (line, what) => damaged?.(doubt(source, line, what)));
    this.damaged = damaged;
    const passOver = salvage ? (damage: Damage) => damaged?.(damage) : undefined;
    this.lines = new TableLines(source, file.head, passOver);
  }

  /**
   * Rows from where the last reading ended to the file's end.
   * @param growing leave a line that has no end yet to the next reading
   */
  *rows(growing = false): Generator<TextRow, void> {
    for (const row of this.lines.rows(growing)) {
      const { line, offset, whole } = row;
      yield { kind: this.kind, values: this.doubts.values(row), line, offset };
      if (!whole) this.damaged?.({ ...doubt(this.source, line, CUT_LINE), offset });
    }
    this.doubts.end();
  }
}

const doubt = ({ path }: FileSource, line: number, what: string): Damage => ({
  path,
  offset: -1,
  line,
  what: visible(what),
  skipped: 0,
  kept: true,
});

/** A file that is read in one go. */
interface WholeFile {
  readonly rows: Iterable<TextRow>;
  /** The file's reports, if it has reports. */
  readonly reports: readonly GeopmReport[];
}

/**
 * @param damaged called for what was read but may be wrong @throws FormatError if the file is too large
 */
export function readWhole(
  source: FileSource,
  file: GeopmFile,
  salvage: boolean,
  damaged?: Damaged,
): WholeFile {
  if (isTable(file)) {
    return { rows: new TableRows(source, file, salvage, damaged).rows(), reports: [] };
  }
  if (file.what === 'session-report') {
    return { rows: sessionRows(source, damaged), reports: [] };
  }
  const { reports, oddities } = readReports(source, file.what);
  for (const { line, what } of oddities) damaged?.(doubt(source, line, what));
  return { rows: sectionRows(reports), reports };
}

function sessionRows(source: FileSource, damaged?: Damaged): TextRow[] {
  const text = wholeText(source);
  const { reports, oddities } = readSessionReports(text);
  for (const { line, what } of oddities) damaged?.(doubt(source, line, what));
  if (!text.endsWith('\n')) damaged?.(doubt(source, lineCount(text), CUT_LINE));
  return reports.map((report) => ({
    kind: kindOf('session_report', [...report.keys()]),
    values: [...report.values()],
    line: 1,
    offset: 0,
  }));
}

/** Rows as the block that visitors get. */
export class RowBlock implements RecordBlock {
  private readonly rows: readonly TextRow[];

  constructor(rows: readonly TextRow[]) {
    this.rows = rows;
  }

  get length(): number {
    return this.rows.length;
  }

  kind(record: number): RecordKind {
    return this.rows[record].kind;
  }

  offset(record: number): number {
    return this.rows[record].offset;
  }

  cell(record: number, key: number): CellValue {
    return this.rows[record].values[key] ?? null;
  }

  payload(): null {
    return null;
  }
}
