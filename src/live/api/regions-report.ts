/** Regions from the tables of GEOPM's files: totals, processes, the hierarchy. See docs/formats/geopm.md. */
import type { OpenRecording } from '../../query/index.ts';
import type {
  ProcessRegion,
  ProfileFacts,
  RegionColumn,
  RegionFacts,
  RegionPlace,
  RegionRow,
  SessionSignal,
  TraceFacts,
} from '../../view/facts/regions.ts';
import { geopmColumns } from './geopm-columns.ts';

/** Of geopm_region. */
const LABELS = ['host', 'section', 'region', 'hash'];
/** Sentences about doubtful files that are told. */
const MOST_SUSPECTS = 50;

/** A number of a table; null where it is missing. */
const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

type Cells = Readonly<Record<string, unknown>>;

/** Sections as a report has them, one after the other for each host. */
const SECTIONS = ['region', 'unmarked', 'epoch', 'application'];

/**
 * Each row's host; where several reports tell of one, with its number among them: their regions are not one another's.
 * A report of a host begins where its sections begin again, or a region comes again.
 */
export function reportNames(rows: readonly Cells[]): string[] {
  const reports = new Map<string, { count: number; section: number; regions: Set<unknown> }>();
  const numbers = rows.map(({ host, section, region }) => {
    const name = String(host ?? '');
    const now = SECTIONS.indexOf(String(section));
    const report = reports.get(name) ?? { count: 1, section: 0, regions: new Set() };
    reports.set(name, report);
    const isAgain = now === 0 ? report.regions.has(region) : now === report.section;
    if (now < report.section || isAgain) {
      report.count++;
      report.regions.clear();
    }
    report.section = now;
    if (now === 0) report.regions.add(region);
    return report.count;
  });
  return rows.map(({ host }, k) => {
    const name = String(host ?? '');
    return (reports.get(name)?.count ?? 1) > 1 ? `${name}, report ${numbers[k]}` : name;
  });
}

/** Statistics of a session's report: columns named `SIGNAL_STATISTIC`. */
const STATISTIC = /^(.+)_(count|first|last|min|max|mean|std)$/;

async function sessionSignals(sql: OpenRecording): Promise<SessionSignal[]> {
  const rows = await sql.query<Cells>('SELECT * FROM geopm_session_report');
  return rows.flatMap((row, k) => {
    const found = new Map<string, Record<string, number>>();
    for (const [column, value] of Object.entries(row)) {
      const [, signal, statistic] = STATISTIC.exec(column) ?? [];
      const number = numberOrNull(value);
      if (signal === undefined || number === null || /^sample(_|$)/.test(signal)) continue;
      const statistics = found.get(signal) ?? {};
      found.set(signal, { ...statistics, [statistic]: number });
    }
    const host = String(row.host ?? '');
    return [...found].map(([signal, statistics]) => ({ report: k + 1, host, signal, statistics }));
  });
}

async function regionRows(
  sql: OpenRecording,
  columns: readonly RegionColumn[],
): Promise<readonly RegionRow[]> {
  const rows = await sql.query<Cells>('SELECT * FROM geopm_region');
  const hosts = reportNames(rows);
  return rows.map((row, k) => ({
    host: hosts[k],
    node: String(row.host ?? ''),
    section: row.section as RegionRow['section'],
    region: String(row.region ?? ''),
    hash: Number(row.hash),
    values: columns.map(({ key }) => numberOrNull(row[key])),
  }));
}

async function processRows(sql: OpenRecording): Promise<ProcessRegion[]> {
  const rows = await sql.query<Cells>(
    "SELECT * FROM geopm_process WHERE region IS NOT NULL AND region <> ''",
  );
  return rows.map(({ host, pid, process, rank, region, count, runtime }) => ({
    host: String(host ?? ''),
    process: Number(pid),
    name: numberOrNull(rank) === null ? `${process ?? 'process'} ${pid}` : `rank ${rank}`,
    region: String(region),
    count: Number(count ?? 0),
    runtime: Number(runtime ?? Number.NaN),
  }));
}

async function placeRows(sql: OpenRecording): Promise<RegionPlace[]> {
  const rows = await sql.query<Cells>('SELECT * FROM geopm_inside');
  // A name may hold the separator: the part above is known from the row before at the depth above.
  const above: string[][] = [];
  return rows.map(({ host, region, depth, count, runtime, overlapping }) => {
    const level = Math.max(1, Number(depth ?? 1));
    const path = [...(above[level - 2] ?? []), String(region ?? '')];
    above[level - 1] = path;
    above.length = level;
    return {
      host: String(host ?? ''),
      path,
      count: Number(count ?? 0),
      runtime: Number(runtime ?? Number.NaN),
      overlapping: Number(overlapping ?? 0) === 1,
    };
  });
}

/** Reports of several runs of one host: what has no report's number is of all of them. */
function mixed(rows: readonly RegionRow[]): string[] {
  const hosts = new Set(rows.filter(({ host, node }) => host !== node).map(({ node }) => node));
  return [...hosts].map(
    (host) =>
      `There are several reports of host ${host}, numbered in the order of their files; its processes, traces and regions inside regions are those of all of them`,
  );
}

/** What traces tell. */
interface Traced {
  processes(names: ReadonlyMap<number, string>): Promise<ProcessRegion[]>;
  traces(): Promise<TraceFacts[]>;
  profiles(): Promise<ProfileFacts[]>;
}

/** All but lanes and lines, which are asked for by window. */
export async function regionFacts(sql: OpenRecording, traces: Traced): Promise<RegionFacts> {
  const tables = await geopmColumns(sql);
  const columns = (tables.get('geopm_region') ?? []).filter(({ key }) => !LABELS.includes(key));
  const rows = tables.has('geopm_region') ? await regionRows(sql, columns) : [];
  const names = new Map<number, string>();
  for (const { section, hash, region } of rows) {
    if (section === 'region') names.set(hash, region);
  }
  const told = tables.has('geopm_process') ? await processRows(sql) : [];
  const traced = told.length > 0 ? [] : await traces.processes(names);
  const places = tables.has('geopm_inside') ? await placeRows(sql) : [];
  const suspects = sql.suspects
    .filter(({ file }) => /report|trace|geopm|prof/i.test(file))
    .map(({ file, what }) => `${file}: ${what}`);
  return {
    available: tables.size > 0,
    columns,
    rows,
    processes: told.length > 0 ? told : traced,
    processesFrom: told.length > 0 ? 'report' : traced.length > 0 ? 'profile trace' : null,
    places,
    sessions: tables.has('geopm_session_report') ? await sessionSignals(sql) : [],
    traces: await traces.traces(),
    profiles: await traces.profiles(),
    names: [...names],
    suspects: [...mixed(rows), ...suspects.slice(0, MOST_SUSPECTS)],
  };
}
