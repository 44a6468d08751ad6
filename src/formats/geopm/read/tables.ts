/** GEOPM's files as tables: geopm_region, geopm_trace, geopm_profile_trace, geopm_session, geopm_session_report. */

import { type Domain, label, type Metric, type Schema } from '../../../model/metric.ts';
import {
  HASH_APPLICATION,
  HASH_EPOCH,
  HASH_INVALID,
  HASH_UNMARKED,
} from '../../../model/region-hash.ts';
import type { CellValue } from '../../format.ts';
import { columnName, hash, real, reportMetric } from '../names.ts';
import { hashOf } from '../values.ts';
import type { GeopmFile } from './detect.ts';
import { INSIDE_KIND, PROCESS_KIND } from './own-section.ts';
import type { TextRow } from './records.ts';

/** A column: its metric, and its value in a row. */
interface TableColumn {
  readonly metric: Metric;
  readonly of: (row: TextRow) => number | string;
}

export interface GeopmTable {
  readonly schema: Schema;
  readonly columns: readonly TableColumn[];
}

const numberIn = (value: CellValue): number => (typeof value === 'number' ? value : Number.NaN);
const textIn = (value: CellValue): string => (value === null ? '' : String(value));

const HASHES_OF_TOTALS: Readonly<Record<string, number>> = {
  unmarked: HASH_UNMARKED,
  epoch: HASH_EPOCH,
  application: HASH_APPLICATION,
};
/** Names of hints by number: geopm_prof(3). */
export const HINTS =
  'unset unknown compute memory network io serial parallel ignore inactive spin'.split(' ');

const table = (
  name: string,
  domain: Domain,
  help: string,
  columns: readonly TableColumn[],
): GeopmTable => ({
  schema: { name, domain, help, metrics: columns.map(({ metric }) => metric) },
  columns,
});

/** Makes names unique, regardless of case. */
function distinct(columns: readonly TableColumn[]): TableColumn[] {
  const names = new Set<string>();
  return columns.map((column) => {
    let key = column.metric.key;
    for (let k = 2; names.has(key); k++) key = `${column.metric.key}_${k}`;
    names.add(key);
    return { ...column, metric: { ...column.metric, key } };
  });
}

/** Sections of reports, with a column for each key that has a number in any of `rows`. */
function regionTable(rows: readonly TextRow[]): GeopmTable {
  const keys = new Set<string>();
  for (const { kind, values } of rows) {
    kind.keys.forEach((key, k) => {
      if (k >= 4 && typeof values[k] === 'number') keys.add(key);
    });
  }
  const cell = (key: string) => (row: TextRow) =>
    numberIn(row.values[row.kind.keys.indexOf(key)] ?? null);
  return table(
    'geopm_region',
    'region',
    'totals of regions, of the time in none (unmarked), of epochs and of the application, by host',
    distinct([
      { metric: label('host', 'host'), of: ({ values }) => textIn(values[0]) },
      {
        metric: label('section', 'region, unmarked, epoch or application'),
        of: ({ values }) => textIn(values[1]),
      },
      { metric: label('region', 'name of the region'), of: ({ values }) => textIn(values[2]) },
      {
        metric: hash(
          'hash',
          'hash of the name, as written; of totals the constant that GEOPM uses',
        ),
        of: ({ values }) =>
          hashOf(textIn(values[3])) ?? HASHES_OF_TOTALS[textIn(values[1])] ?? HASH_INVALID,
      },
      ...[...keys].map((key) => ({ metric: reportMetric(key), of: cell(key) })),
    ]),
  );
}

const at = (row: TextRow, key: string): CellValue => row.values[row.kind.keys.indexOf(key)] ?? null;
const named = (key: string, help: string): TableColumn => ({
  metric: label(columnName(key), help),
  of: (row) => textIn(at(row, key)),
});
const counted = (key: string, unit: string, help: string): TableColumn => ({
  metric: real(columnName(key.replace(' (s)', '')), unit, help),
  of: (row) => numberIn(at(row, key)),
});

const PROCESS_TABLE = table('geopm_process', 'process', 'regions of each process, of our reports', [
  named('host', 'host'),
  counted('pid', '', 'process id'),
  named('process', 'name of the process'),
  counted('rank', '', 'MPI rank'),
  named('region', 'outermost region; empty where the process was in none'),
  counted('count', '', 'visits'),
  counted('runtime (s)', 's', 'time in the region'),
  counted('process runtime (s)', 's', 'time from the start of the process to its end'),
  counted('unmarked (s)', 's', 'part of it outside all regions'),
  counted('epochs', '', 'epochs of the process'),
]);

const INSIDE_TABLE = table(
  'geopm_inside',
  'region',
  'regions inside regions, summed over threads and processes, of our reports',
  [
    named('host', 'host'),
    named('region', 'name of the region'),
    named('path', 'regions that it is inside, and itself'),
    counted('depth', '', '1 = outermost'),
    counted('count', '', 'visits'),
    counted('runtime (s)', 's', 'time inside, those deeper included'),
    counted('overlapping', '', '1 = asynchronous spans, which overlap'),
  ],
);

/** A table and its rows. */
export interface Filled {
  readonly table: GeopmTable;
  readonly rows: readonly TextRow[];
}

/** The tables made of a file's rows: Triscope's reports have more than one. */
export function tablesFor(file: GeopmFile, rows: readonly TextRow[]): Filled[] {
  const isReport = file.what === 'report' || file.what === 'text-report';
  if (!isReport) return [{ table: tableFor(file, rows), rows }];
  const own = (kind: string, table: GeopmTable): Filled => ({
    table,
    rows: rows.filter((row) => row.kind.name === kind),
  });
  const filled = [own(PROCESS_KIND, PROCESS_TABLE), own(INSIDE_KIND, INSIDE_TABLE)];
  const sections = rows.filter(
    ({ kind }) => kind.name !== PROCESS_KIND && kind.name !== INSIDE_KIND,
  );
  return [
    { table: regionTable(sections), rows: sections },
    ...filled.filter((one) => one.rows.length > 0),
  ];
}

/** Numbers of a trace's column, found by the signal's name. */
function signalMetric(name: string, at: number): TableColumn {
  const signal = name.replace(/(-[a-z_]+-\d+|@.*)$/, '');
  const key = columnName(name);
  if (signal === 'TIME') {
    const timed = real(name === 'TIME' ? 'real_time' : key, 's', 'since the start of the run');
    return { metric: timed, of: ({ values }) => numberIn(values[at]) };
  }
  if (signal === 'REGION_HASH') {
    const of = ({ values }: TextRow) => hashOf(textIn(values[at])) ?? HASH_INVALID;
    return {
      metric: hash(key, 'region that all its CPUs are in; 0 where there is none to tell'),
      of,
    };
  }
  if (signal === 'REGION_HINT') {
    const of = ({ values }: TextRow) => {
      const value = values[at];
      return value === null || value === 'NAN'
        ? 'inactive'
        : (HINTS[Number(value)] ?? textIn(value));
    };
    return { metric: label(key, 'what the region said that it does'), of };
  }
  return {
    metric: real(key, unitOf(signal), `signal ${name}`),
    of: ({ values }) => numberIn(values[at]),
  };
}

/** Units of the columns that traces have by default. */
function unitOf(signal: string): string {
  if (/ENERGY$/.test(signal)) return 'J';
  if (/POWER(_BUDGET|_LIMIT)?$/.test(signal)) return 'W';
  if (/FREQ|FREQUENCY/.test(signal)) return 'Hz';
  if (/TEMPERATURE/.test(signal)) return 'Cel';
  if (/^TIME/.test(signal)) return 's';
  return '';
}

const tracedTable = (
  name: string,
  help: string,
  file: GeopmFile,
  keys: readonly string[],
): GeopmTable => {
  const host = ('head' in file && file.head.properties.get('node_name')) || '';
  return table(
    name,
    'host',
    help,
    distinct([{ metric: label('host', 'host'), of: () => host }, ...keys.map(signalMetric)]),
  );
};

const TAKES_HASH = /^(REGION_ENTRY|REGION_EXIT|EVENT_SHORT_REGION|EVENT_(START|STOP)_PROFILE)$/;

/** Index of the thread in the rows of Triscope's profile traces. */
const THREAD = 4;

function profileTable(file: GeopmFile): GeopmTable {
  const host = ('head' in file && file.head.properties.get('node_name')) || '';
  return table(
    'geopm_profile_trace',
    'process',
    'what processes told of their regions and epochs',
    [
      { metric: label('host', 'host'), of: () => host },
      {
        metric: real('real_time', 's', 'since the start of the run'),
        of: ({ values }) => numberIn(values[0]),
      },
      {
        metric: real('process', '', 'process; rank in old files'),
        of: ({ values }) => numberIn(values[1]),
      },
      { metric: label('event', 'what happened'), of: ({ values }) => textIn(values[2]) },
      {
        metric: hash('hash', 'of the region, or of the profile’s name; 0 for other events'),
        of: ({ values }) =>
          TAKES_HASH.test(textIn(values[2])) ? (hashOf(textIn(values[3])) ?? 0) : 0,
      },
      {
        metric: real('value', '', 'epoch, CPU or seconds, of events that have no hash'),
        of: ({ values }) => numberIn(values[3]),
      },
      ...('head' in file && file.head.columns.length > THREAD
        ? [
            {
              metric: real('thread', '', 'thread that told it, of our traces'),
              of: ({ values }: TextRow) => numberIn(values[THREAD]),
            },
          ]
        : []),
    ],
  );
}

function sessionTable(rows: readonly TextRow[]): GeopmTable {
  const texts = new Set(['host', 'sample-time-first']);
  const keys = [...new Set(rows.flatMap(({ kind }) => kind.keys))];
  return table(
    'geopm_session_report',
    'host',
    'statistics of signals over a session',
    distinct(
      keys.map((key) =>
        texts.has(key)
          ? { metric: label(columnName(key), key), of: (row) => textIn(at(row, key)) }
          : {
              metric: real(columnName(key), /total|period/.test(key) ? 's' : '', key),
              of: (row) => numberIn(at(row, key)),
            },
      ),
    ),
  );
}

/** The table of a file that begins with these rows. For files that are read as a whole, these are all rows. */
function tableFor(file: GeopmFile, rows: readonly TextRow[]): GeopmTable {
  switch (file.what) {
    case 'report':
    case 'text-report':
      return regionTable(rows);
    case 'session-report':
    case 'session-table':
      return sessionTable(rows);
    case 'profile':
      return profileTable(file);
    case 'trace':
      return tracedTable(
        'geopm_trace',
        'signals, sampled for the whole host',
        file,
        file.head.columns,
      );
    case 'session':
      return tracedTable('geopm_session', 'signals, sampled by a session', file, file.head.columns);
  }
}
