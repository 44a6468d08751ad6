/** GEOPM's files of every era as one format: reports, traces, profile traces, and what sessions write. */
import {
  type Damage,
  type Detection,
  type FileSource,
  type Format,
  FormatError,
  type PassOptions,
} from '../format.ts';
import type { OpenFile, TakeRows } from '../part.ts';
import { isSalvaged } from '../records.ts';
import { endsLine } from '../source.ts';
import { detectGeopm, type GeopmDetection, type GeopmFile, isTable } from './read/detect.ts';
import { GeopmPart } from './read/part.ts';
import { RowBlock, readWhole, TableRows, type TextRow } from './read/records.ts';
import { startTimeNs } from './read/start-time.ts';
import { GeopmSurvey } from './read/survey.ts';
import { tablesFor } from './read/tables.ts';

const HEAD_BYTES = 1 << 16;
/** Rows that are handed over at a time. */
const BLOCK_ROWS = 4096;

/** Finds out which of GEOPM's files it is. @throws FormatError for a file that is none of GEOPM's */
function detectionOf(source: FileSource): GeopmDetection {
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const found = detectGeopm(head.subarray(0, source.read(0, head)));
  if (found !== null) return found;
  const what = 'expected a report, a trace or a session of GEOPM';
  throw new FormatError({ path: source.path, offset: 0, what, skipped: 0 });
}

/** Hands over at most `most` rows at a time. Rows before a damaged place are handed over before the error is thrown. */
function* stretches(rows: Iterable<TextRow>, most: number): Generator<TextRow[], void> {
  let stretch: TextRow[] = [];
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

/** Whether the columns depend on all rows: such files are read at once. The others may grow. */
const isWhole = ({ what }: GeopmFile) =>
  what !== 'trace' && what !== 'profile' && what !== 'session';

/** When the run began, as a trace's head says. Reports have no times and need none. */
function zeroOf(file: GeopmFile): bigint | null {
  const text = isTable(file) ? file.head.properties.get('start_time') : undefined;
  return text === undefined ? null : startTimeNs(text);
}

function open(source: FileSource, options: PassOptions = {}): OpenFile {
  const detected = detectionOf(source);
  const { file } = detected;
  const survey = new GeopmSurvey(detected);
  const { records } = options;
  const salvage = isSalvaged(options);
  const damaged = (damage: Damage) => {
    survey.damaged(damage);
    options.damage?.(damage);
  };
  /**
   * The result of `work`; null if damage ends it. The damage is reported; readers of records get it as an error.
   */
  const orDamaged = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FormatError) || records !== undefined) throw error;
      damaged(error.damage);
      return null;
    }
  };
  const opened = {
    zero: zeroOf(file),
    info: () => survey.info(source),
    get suspect() {
      return survey.info(source).suspect;
    },
  };
  if (isTable(file) && !isWhole(file)) {
    const [{ table }] = tablesFor(file, []);
    const read = () =>
      stretches(new TableRows(source, file, true).rows(options.growing), BLOCK_ROWS);
    const part = new GeopmPart(table, read, options.keep);
    const lines = new TableRows(source, file, salvage, damaged);
    const grows = options.growing === true || endsLine(source);
    const pass = (take: TakeRows | undefined, growing = options.growing): void => {
      for (const rows of stretches(lines.rows(growing), BLOCK_ROWS)) {
        survey.see(rows);
        part.see(rows);
        records?.(new RowBlock(rows));
        take?.(part, part.rowsOf(rows));
      }
    };
    orDamaged(() => pass(options.take));
    return {
      ...opened,
      parts: [part],
      ...(grows && {
        grow(take: TakeRows) {
          source.refresh();
          pass(take, true);
        },
      }),
    };
  }
  const parts = orDamaged(() => {
    const whole = readWhole(source, file, salvage, damaged);
    const rows: TextRow[] = [];
    for (const stretch of stretches(whole.rows, BLOCK_ROWS)) {
      survey.see(stretch);
      records?.(new RowBlock(stretch));
      for (const row of stretch) rows.push(row);
    }
    survey.seeReports(whole.reports);
    return tablesFor(file, rows).map(({ table, rows }) => {
      const part = new GeopmPart(table, () => [rows]);
      part.see(rows);
      return part;
    });
  });
  return { ...opened, parts: parts ?? [] };
}

/** Reports, traces and profile traces of GEOPM, of all its versions. */
export const GEOPM = {
  name: 'geopm',
  help: 'GEOPM: reports and traces of every version, profile traces, what geopmsession writes',
  detect: (head: Uint8Array): Detection | null => detectGeopm(head)?.detection ?? null,
  open,
  records: true,
} satisfies Format;
