/** Two reports side by side: sections by host and region, values by key. */
import type { Damage, FileSource, RecordBlock } from '../format.ts';
import { FormatError } from '../format.ts';
import { scanRecords } from '../records.ts';
import { identifyOrFail } from '../registry.ts';
import { INSIDE_KIND, PROCESS_KIND } from './read/own-section.ts';

/** One value of a section in two reports. */
export interface ReportDifference {
  readonly host: string;
  readonly section: string;
  /** Null for the host's totals. */
  readonly region: string | null;
  readonly key: string;
  /** NaN where that report lacks the value or has nan. */
  readonly a: number;
  readonly b: number;
}

/** Values by section and key, in the report's order. */
type Values = Map<
  string,
  { readonly at: Omit<ReportDifference, 'a' | 'b'>; readonly value: number }
>;

interface ReportValues {
  readonly hosts: ReadonlySet<string>;
  readonly rows: readonly (readonly [Omit<ReportDifference, 'a' | 'b'>, number])[];
}

type At = Omit<ReportDifference, 'a' | 'b' | 'key'>;

const text = (block: RecordBlock, record: number, key: string): string | null =>
  block.cell(record, block.kind(record).keys.indexOf(key)) as string | null;

/**
 * The section that a record's values belong to. Null for records that are not compared: processes, whose numbers differ from run to
 * run, and regions outside of all others, which the report's own sections already have.
 */
function placeOf(block: RecordBlock, record: number): At | null {
  const { name, keys } = block.kind(record);
  if (name === PROCESS_KIND) return null;
  const at = {
    host: text(block, record, 'host') ?? '',
    section: text(block, record, 'section') ?? '',
  };
  if (name !== INSIDE_KIND) return { ...at, region: text(block, record, 'region') };
  const [depth, overlapping] = ['depth', 'overlapping'].map((key) =>
    block.cell(record, keys.indexOf(key)),
  );
  if (depth === 1 && overlapping === 0) return null;
  return { ...at, region: text(block, record, 'path') };
}

/** Keys that say to which section a value belongs. */
const PLACE = new Set(['host', 'section', 'region', 'hash', 'path', 'depth', 'overlapping']);

/** @throws FormatError if the file is no report */
function valuesOf(source: FileSource, damaged: (damage: Damage) => void): ReportValues {
  const { format, detection } = identifyOrFail(source);
  const hosts = new Set<string>();
  const rows: [Omit<ReportDifference, 'a' | 'b'>, number][] = [];
  let sections = 0;
  scanRecords(format, source, {
    records(block) {
      for (let k = 0; k < block.length; k++) {
        const { keys } = block.kind(k);
        if (keys[1] !== 'section') continue;
        sections++;
        const at = placeOf(block, k);
        if (at === null) continue;
        hosts.add(at.host);
        for (let c = 0; c < keys.length; c++) {
          const value = block.cell(k, c);
          if (typeof value !== 'number' || PLACE.has(keys[c])) continue;
          rows.push([{ ...at, key: keys[c] }, value]);
        }
      }
      return true;
    },
    damage: damaged,
  });
  if (sections === 0) {
    const what = `expected a report of GEOPM; it is: ${detection.era}`;
    throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 });
  }
  return { hosts, rows };
}

/**
 * All values of both reports, in A's order, then those that only B has. Two reports of one host each are compared even if
 * the hosts' names differ.
 * @param damaged called for what was read but may be wrong
 * @throws FormatError if either file is no report
 */
export function compareReports(
  a: FileSource,
  b: FileSource,
  damaged: (damage: Damage) => void,
): ReportDifference[] {
  const [left, right] = [valuesOf(a, damaged), valuesOf(b, damaged)];
  const single = left.hosts.size === 1 && right.hosts.size === 1;
  const nameOf = ({ host, section, region, key }: Omit<ReportDifference, 'a' | 'b'>) =>
    [single ? '' : host, section, region ?? '', key].join('\0');
  const rest: Values = new Map(right.rows.map(([at, value]) => [nameOf(at), { at, value }]));
  const all = left.rows.map(([at, value]) => {
    const other = rest.get(nameOf(at));
    rest.delete(nameOf(at));
    return { ...at, a: value, b: other?.value ?? Number.NaN };
  });
  for (const { at, value } of rest.values()) all.push({ ...at, a: Number.NaN, b: value });
  return all;
}
