/** Regions from the tables of GEOPM's files: totals, processes, the hierarchy. See docs/formats/geopm.md. */
import type { OpenRecording } from '../../query/index.ts';
import { geopmColumns } from './geopm-columns.ts';
import type {
  ProcessRegion,
  ProfileFacts,
  RegionColumn,
  RegionFacts,
  RegionPlace,
  RegionRow,
  TraceFacts,
} from './regions-facts.ts';

/** Of geopm_region. */
const LABELS = ['host', 'section', 'region', 'hash'];
/** Sentences about doubtful files that are told. */
const MOST_SUSPECTS = 50;

/** A number of a table; null where it is missing. */
const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

type Cells = Readonly<Record<string, unknown>>;

async function regionRows(
  sql: OpenRecording,
  columns: readonly RegionColumn[],
): Promise<readonly RegionRow[]> {
  const rows = await sql.query<Cells>('SELECT * FROM geopm_region');
  return rows.map((row) => ({
    host: String(row.host ?? ''),
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

/** Reports of several runs of one host have each region twice. */
function mixed(rows: readonly RegionRow[]): string[] {
  const seen = new Set<string>();
  const hosts = new Set<string>();
  for (const { host, section, region } of rows) {
    const of = JSON.stringify([host, section, region]);
    if (seen.has(of)) hosts.add(host);
    seen.add(of);
  }
  return [...hosts].map(
    (host) =>
      `There are several reports of host ${host}: its regions are listed once for each; open one report alone`,
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
    available: [...tables.keys()].some((name) => !name.startsWith('geopm_session')),
    columns,
    rows,
    processes: told.length > 0 ? told : traced,
    processesFrom: told.length > 0 ? 'report' : traced.length > 0 ? 'profile trace' : null,
    places,
    traces: await traces.traces(),
    profiles: await traces.profiles(),
    names: [...names],
    suspects: [...mixed(rows), ...suspects.slice(0, MOST_SUSPECTS)],
  };
}
