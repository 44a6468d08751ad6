/** What `info` says of GEOPM's files. */
import { regionHash, regionHashBefore31 } from '../../../model/region-hash.ts';
import { type Damage, type FileInfo, type FileSource, FormatError } from '../../format.ts';
import { visible } from '../../visible.ts';
import { hashOf } from '../values.ts';
import type { GeopmDetection, GeopmFile } from './detect.ts';
import type { Oddity } from './oddity.ts';
import { incompleteness, processCount } from './own-section.ts';
import { type Row, readReports, rowsIn } from './records.ts';
import type { GeopmReport } from './report.ts';

interface Suspect {
  readonly where: string;
  readonly what: string;
}

/** By which function the regions of reports were hashed. */
function hashesOf(reports: readonly GeopmReport[]): string | null {
  let crc32 = 0;
  let crc32c = 0;
  let other = 0;
  for (const { sections } of reports.flatMap(({ hosts }) => hosts)) {
    for (const { region, hash } of sections) {
      if (region === null || hash === null) continue;
      const value = hashOf(hash);
      if (value === regionHash(region)) crc32++;
      else if (value === regionHashBefore31(region)) crc32c++;
      else other++;
    }
  }
  if (crc32 + crc32c + other === 0) return null;
  const named = [
    [crc32, 'CRC-32'],
    [crc32c, 'CRC-32C, as before version 3.1'],
    [other, 'of another function'],
  ] as const;
  return named
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(', ');
}

/** A key with its unit is a number's. */
const UNIT = /\((s|sec|J|W|Hz|%|MB|B)\)$/;

/** Keys that have a number in some section. */
function numericKeys(reports: readonly GeopmReport[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { sections } of reports.flatMap(({ hosts }) => hosts)) {
    for (const { values } of sections) {
      for (const [key, value] of values) if (typeof value === 'number') keys.add(key);
    }
  }
  return keys;
}

/** Values that cannot be, though the report has them. */
function impossible(reports: readonly GeopmReport[]): Oddity[] {
  const found: Oddity[] = [];
  const numeric = numericKeys(reports);
  const isNumeric = (key: string) => UNIT.test(key) || numeric.has(key);
  for (const { name, sections } of reports.flatMap(({ hosts }) => hosts)) {
    for (const { section, region, values, line } of sections) {
      for (const [key, value] of values) {
        const where = region === null ? section : `region ${region}`;
        if (typeof value !== 'number') {
          if (!isNumeric(key)) continue;
          const text = value.slice(0, 40);
          found.push({ line, what: `${name}, ${where}: ${key} is no number: ${text}` });
        } else if (value === Infinity) {
          found.push({ line, what: `${name}, ${where}: ${key} is infinite` });
        } else if (value < 0)
          found.push({ line, what: `${name}, ${where}: ${key} is negative: ${value}` });
        else if (Number.isNaN(value))
          found.push({ line, what: `${name}, ${where}: ${key} is nan` });
      }
    }
  }
  return found;
}

const INCOMPLETE = /incomplete/i;

function ofReports(source: FileSource, what: 'report' | 'text-report') {
  const { reports } = readReports(source, what);
  const hosts = reports.flatMap((report) => report.hosts);
  const regions = new Set(hosts.flatMap((host) => host.sections.map((s) => s.region ?? '')));
  regions.delete('');
  const more: Record<string, unknown> = {};
  for (const key of ['Start Time', 'Profile', 'Agent', 'Policy']) {
    const value = reports[0]?.header.get(key);
    if (value !== undefined) more[key.toLowerCase().replace(' ', '_')] = value;
  }
  const hashes = hashesOf(reports);
  if (hashes !== null) more.hashes = hashes;
  if (reports.length > 1) more.documents = reports.length;
  const unfinished = reports.flatMap(({ header }) =>
    [...header].filter(([key]) => INCOMPLETE.test(key)).map(([key, value]) => `${key}: ${value}`),
  );
  const suspect = [
    ...impossible(reports).map(({ line, what }) => ({ where: `line ${line}`, what })),
    ...unfinished.map((what) => ({ where: 'header', what })),
    ...hosts.flatMap((host) => {
      const why = incompleteness(host);
      return why === null ? [] : [{ where: `host ${host.name}`, what: `incomplete: ${why}` }];
    }),
  ];
  const processes = hosts.reduce((sum, host) => sum + processCount(host), 0);
  return {
    entities: {
      hosts: new Set(hosts.map(({ name }) => name)).size,
      ...(processes > 0 && { processes }),
      regions: regions.size,
    },
    more,
    suspect,
  };
}

function ofTable(file: GeopmFile, rows: readonly Row[]) {
  if (!('head' in file)) return { entities: {}, more: {} };
  const { properties, columns } = file.head;
  const more: Record<string, unknown> = { columns: columns.length };
  for (const [key, value] of properties) if (key !== 'geopm_version') more[key] = value;
  const entities: Record<string, number> = properties.has('node_name') ? { hosts: 1 } : {};
  if (file.what === 'profile') {
    const regions = rows.filter(
      ({ values }) => values[2] === 'REGION_ENTRY' || values[2] === 'EVENT_SHORT_REGION',
    );
    entities.processes = new Set(rows.map(({ values }) => values[1])).size;
    entities.regions = new Set(regions.map(({ values }) => values[3])).size;
  }
  return { entities, more };
}

/** The least and greatest TIME of rows, which need not be in its order. */
function spanOf(rows: readonly Row[]) {
  let least = Infinity;
  let most = -Infinity;
  for (const { kind, values } of rows) {
    const time = values[kind.keys.indexOf('TIME')];
    if (typeof time !== 'number') continue;
    least = Math.min(least, time);
    most = Math.max(most, time);
  }
  return least > most ? null : { from: { real_time: least }, to: { real_time: most } };
}

export function infoOf(source: FileSource, { file, detection }: GeopmDetection): FileInfo {
  const rows: Row[] = [];
  const suspect: Suspect[] = [];
  const damages: Damage[] = [];
  try {
    for (const row of rowsIn(source, file, { salvage: true }, (damage) => damages.push(damage)))
      rows.push(row);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    damages.push(error.damage);
  }
  const isReport = file.what === 'report' || file.what === 'text-report';
  const { entities, more, ...rest } = isReport ? ofReports(source, file.what) : ofTable(file, rows);
  if ('suspect' in rest) suspect.push(...(rest.suspect as Suspect[]));
  for (const { line, what } of damages) suspect.push({ where: `line ${line}`, what });
  const records: Record<string, number> = {};
  for (const { kind } of rows) records[kind.name] = (records[kind.name] ?? 0) + 1;
  const span = spanOf(rows);
  return {
    path: source.path,
    format: 'geopm',
    era: detection.era,
    because: detection.because,
    bytes: source.size,
    records,
    entities,
    from: span?.from ?? null,
    to: span?.to ?? null,
    suspect: suspect.map(({ where, what }) => ({ where: visible(where), what: visible(what) })),
    more,
    damaged: damages.some(({ kept }) => kept !== true),
  };
}
