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
import { numberOf } from '../values.ts';
import { type GeopmFile, isTable } from './detect.ts';
import { ownRows } from './own-section.ts';
import { type GeopmReport, type ReportsRead, readYamlReports } from './report.ts';
import { readSessionReports } from './session-report.ts';
import { rowsOf, type TableHead } from './table-file.ts';
import { readTextReport } from './text-report.ts';

export interface Row {
  readonly kind: RecordKind;
  readonly values: readonly CellValue[];
  /** From 1. */
  readonly line: number;
  /** Byte; of rows of reports that of the file, whose place is the line. */
  readonly offset: number;
  /** False for a last line without an end: its last value may be cut off. */
  readonly whole?: boolean;
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

export const readReports = (source: FileSource, what: 'report' | 'text-report'): ReportsRead =>
  what === 'report' ? readYamlReports(wholeText(source)) : readTextReport(wholeText(source));

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

/** A cell as a value: what is no number, hashes too, stays text; what is not there is null. */
const cellOf = (text: string): CellValue => {
  if (text === '') return null;
  const number = numberOf(text);
  if (number === null) return text;
  return Number.isNaN(number) ? null : number;
};

const KIND_OF_TABLE = {
  trace: 'trace',
  profile: 'profile_event',
  session: 'session',
  'session-table': 'session_report',
} as const;

function* tableRows(
  source: FileSource,
  what: keyof typeof KIND_OF_TABLE,
  head: TableHead,
  damaged?: (damage: Damage) => void,
): Generator<Row, void> {
  const kind = kindOf(KIND_OF_TABLE[what], head.columns);
  for (const { cells, line, offset, whole } of rowsOf(source, head, damaged)) {
    yield { kind, values: cells.map(cellOf), line, offset, whole };
  }
}

/** The rows of a file. @throws FormatError at damage, unless told to salvage */
export function* rowsIn(
  source: FileSource,
  file: GeopmFile,
  options: ScanOptions,
  damaged?: (damage: Damage) => void,
): Generator<Row, void> {
  if (file.what === 'report' || file.what === 'text-report') {
    yield* sectionRows(readReports(source, file.what).reports);
  } else if (!isTable(file)) {
    for (const report of readSessionReports(wholeText(source))) {
      const kind = kindOf('session_report', [...report.keys()]);
      yield { kind, values: [...report.values()], line: 1, offset: 0 };
    }
  } else {
    const tell = options.salvage ? (damage: Damage) => damaged?.(damage) : undefined;
    yield* tableRows(source, file.what, file.head, tell);
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
