/** GEOPM's files of every era as one format: reports, traces, profile traces, and what sessions write. */
import type { Batch, Schema } from '../../model/metric.ts';
import {
  type Damage,
  type Detection,
  type FileInfo,
  type FileSource,
  type Format,
  FormatError,
  type ScanOptions,
  type Visitor,
} from '../format.ts';
import { detectGeopm, type GeopmDetection, isTable } from './read/detect.ts';
import { type Row, RowBlock, rowsIn } from './read/records.ts';
import { startTimeNs } from './read/start-time.ts';
import { infoOf } from './read/survey.ts';
import { batchOf, projected, tablesFor } from './read/tables.ts';

const HEAD_BYTES = 1 << 16;
const BATCH_ROWS = 65_536;
/** Rows given to a visitor at once. */
const BLOCK_ROWS = 4096;

/** What the file is. @throws FormatError for a file that is none of GEOPM's */
function detectionOf(source: FileSource): GeopmDetection {
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const found = detectGeopm(head.subarray(0, source.read(0, head)));
  if (found !== null) return found;
  const what = 'expected a report, a trace or a session of GEOPM';
  throw new FormatError({ path: source.path, offset: 0, what, skipped: 0 });
}

/** Stretches of rows of at most `most`. What came before damage is given before the damage is thrown. */
function* stretches(rows: Iterable<Row>, most: number): Generator<Row[], void> {
  let stretch: Row[] = [];
  let fault: unknown = null;
  const iterator = rows[Symbol.iterator]();
  for (;;) {
    try {
      const { value, done } = iterator.next();
      if (done) break;
      stretch.push(value);
    } catch (error) {
      fault = error;
      break;
    }
    if (stretch.length < most) continue;
    yield stretch;
    stretch = [];
  }
  if (stretch.length > 0) yield stretch;
  if (fault !== null) throw fault;
}

/** Files whose columns follow from all of their rows. */
const isWhole = (what: string) => what !== 'trace' && what !== 'profile' && what !== 'session';

function* batches(
  source: FileSource,
  options: ScanOptions = {},
  damaged?: (damage: Damage) => void,
): Generator<Batch, void> {
  const { file } = detectionOf(source);
  const all = rowsIn(source, file, options, damaged);
  const most = isWhole(file.what) ? Infinity : (options.batchRows ?? BATCH_ROWS);
  for (const stretch of stretches(all, most)) {
    for (const { table: full, rows } of tablesFor(file, stretch)) {
      const table = projected(full, options);
      if (table !== null) yield batchOf(table, rows);
    }
  }
}

function scan(source: FileSource, visitor: Visitor, options: ScanOptions = {}): void {
  const { file } = detectionOf(source);
  const damaged = (damage: Damage) => visitor.damage?.(damage);
  if (visitor.records !== undefined) {
    for (const stretch of stretches(rowsIn(source, file, options, damaged), BLOCK_ROWS)) {
      if (visitor.records(new RowBlock(stretch)) === false) return;
    }
  }
  if (visitor.batch !== undefined) {
    for (const batch of batches(source, options, visitor.records ? undefined : damaged))
      visitor.batch(batch);
  }
}

function schemas(source: FileSource, options: ScanOptions = {}): readonly Schema[] {
  const { file } = detectionOf(source);
  const rows = isWhole(file.what) ? [...rowsIn(source, file, { ...options, salvage: true })] : [];
  return tablesFor(file, rows).flatMap(({ table: full }) => {
    const table = projected(full, options);
    return table === null ? [] : [table.schema];
  });
}

/** The start that a trace's head says. Reports have no times, so they need none. */
function zero(source: FileSource): bigint | null {
  const { file } = detectionOf(source);
  const text = isTable(file) ? file.head.properties.get('start_time') : undefined;
  return text === undefined ? null : startTimeNs(text);
}

export const GEOPM: Format = {
  name: 'geopm',
  help: 'GEOPM: reports and traces of every version, profile traces, what geopmsession writes',
  detect: (head: Uint8Array): Detection | null => detectGeopm(head)?.detection ?? null,
  scan,
  batches: (source, options) => batches(source, options),
  schemas,
  zero,
  info: (source: FileSource): FileInfo => infoOf(source, detectionOf(source)),
};
