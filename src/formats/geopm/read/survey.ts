/** What `info` prints about GEOPM's files. */
import { regionHash, regionHashBefore31 } from '../../../model/region-hash.ts';
import type { CellValue, Damage, FileInfo, FileSource } from '../../format.ts';
import { visible } from '../../visible.ts';
import { hashOf } from '../values.ts';
import { type GeopmDetection, type GeopmTableFile, isTable } from './detect.ts';
import type { Oddity } from './oddity.ts';
import { incompleteness, lossesOf, processCount } from './own-section.ts';
import type { TextRow } from './records.ts';
import type { GeopmReport } from './report.ts';

/** The function by which the regions of reports were hashed. */
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

/** A key with a unit has a number as its value. */
const UNIT = /\((s|sec|J|W|Hz|%|MB|B)\)$/;

/** Keys that have a number in at least one section. */
function numericKeys(reports: readonly GeopmReport[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { sections } of reports.flatMap(({ hosts }) => hosts)) {
    for (const { values } of sections) {
      for (const [key, value] of values) if (typeof value === 'number') keys.add(key);
    }
  }
  return keys;
}

/** Values in the report that cannot be right. */
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
          found.push({ line, what: `${name}, ${where}: ${key} is not a number: ${text}` });
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

function ofReports(reports: readonly GeopmReport[]) {
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
      const cut = why === null ? [] : [`incomplete: ${why}`];
      return [...cut, ...lossesOf(host)].map((what) => ({ where: `host ${host.name}`, what }));
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

/** Counts rows and collects the times and entities of the file. */
export class GeopmSurvey {
  private readonly detected: GeopmDetection;
  private readonly records: Record<string, number> = {};
  private readonly damages: Damage[] = [];
  /** Of profile traces. */
  private readonly processes = new Set<CellValue>();
  private readonly regions = new Set<CellValue>();
  /** TIME of the rows, which need not be sorted by it. */
  private from = Infinity;
  private to = -Infinity;
  private reports: readonly GeopmReport[] = [];

  constructor(detected: GeopmDetection) {
    this.detected = detected;
  }

  readonly damaged = (damage: Damage): void => {
    this.damages.push(damage);
  };

  see(rows: readonly TextRow[]): void {
    const isProfile = this.detected.file.what === 'profile';
    for (const { kind, values } of rows) {
      this.records[kind.name] = (this.records[kind.name] ?? 0) + 1;
      const time = values[kind.keys.indexOf('TIME')];
      if (typeof time === 'number') {
        this.from = Math.min(this.from, time);
        this.to = Math.max(this.to, time);
      }
      if (!isProfile) continue;
      const [, process, event, region] = values;
      this.processes.add(process);
      if (event === 'REGION_ENTRY' || event === 'EVENT_SHORT_REGION') this.regions.add(region);
    }
  }

  seeReports(reports: readonly GeopmReport[]): void {
    this.reports = reports;
  }

  private ofTable({ head, what }: GeopmTableFile) {
    const { properties, columns } = head;
    const more: Record<string, unknown> = { columns: columns.length };
    for (const [key, value] of properties) if (key !== 'geopm_version') more[key] = value;
    const entities: Record<string, number> = properties.has('node_name') ? { hosts: 1 } : {};
    if (what === 'profile') {
      entities.processes = this.processes.size;
      entities.regions = this.regions.size;
    }
    return { entities, more, suspect: [] };
  }

  info(source: FileSource): FileInfo {
    const { file, detection } = this.detected;
    const { what } = file;
    const { entities, more, suspect } = isTable(file)
      ? this.ofTable(file)
      : what === 'session-report'
        ? { entities: {}, more: {}, suspect: [] }
        : ofReports(this.reports);
    const places = [
      ...suspect,
      ...this.damages.map((damage) => ({ where: `line ${damage.line}`, what: damage.what })),
    ];
    const isTimed = this.from <= this.to;
    return {
      path: source.path,
      format: 'geopm',
      era: detection.era,
      because: detection.because,
      bytes: source.size,
      records: this.records,
      entities,
      from: isTimed ? { real_time: this.from } : null,
      to: isTimed ? { real_time: this.to } : null,
      suspect: places.map(({ where, what }) => ({ where: visible(where), what: visible(what) })),
      more,
      damaged: this.damages.some(({ kept }) => kept !== true),
    };
  }
}
