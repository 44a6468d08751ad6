/** Two reports side by side: sections by host and region, values by key. */
import type { FileSource } from '../format.ts';
import { FormatError } from '../format.ts';
import { identifyOrFail } from '../registry.ts';

/** One value of a section in two reports. */
export interface Difference {
  readonly host: string;
  readonly section: string;
  /** Null for totals. */
  readonly region: string | null;
  readonly key: string;
  /** NaN where that report has it not, or has nan. */
  readonly a: number;
  readonly b: number;
}

/** Values by section and key, in the report's order. */
type Values = Map<string, { readonly at: Omit<Difference, 'a' | 'b'>; readonly value: number }>;

interface ReportValues {
  readonly hosts: ReadonlySet<string>;
  readonly rows: readonly (readonly [Omit<Difference, 'a' | 'b'>, number])[];
}

/** @throws FormatError where the file is no report */
function valuesOf(source: FileSource): ReportValues {
  const { format, detection } = identifyOrFail(source);
  const hosts = new Set<string>();
  const rows: [Omit<Difference, 'a' | 'b'>, number][] = [];
  let sections = 0;
  format.scan(source, {
    records(block) {
      for (let k = 0; k < block.length; k++) {
        const { keys } = block.kind(k);
        if (keys[1] !== 'section') continue;
        sections++;
        const [host, section, region] = [0, 1, 2].map((c) => block.cell(k, c) as string | null);
        hosts.add(host ?? '');
        for (let c = 4; c < keys.length; c++) {
          const value = block.cell(k, c);
          if (typeof value !== 'number') continue;
          rows.push([{ host: host ?? '', section: section ?? '', region, key: keys[c] }, value]);
        }
      }
      return true;
    },
  });
  if (sections === 0) {
    const what = `expected a report of GEOPM; it is: ${detection.era}`;
    throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 });
  }
  return { hosts, rows };
}

/**
 * All values of both, in A's order, then those that only B has. Two reports of one host each are compared though
 * their hosts have other names.
 * @throws FormatError where one is no report
 */
export function compareReports(a: FileSource, b: FileSource): Difference[] {
  const [left, right] = [valuesOf(a), valuesOf(b)];
  const single = left.hosts.size === 1 && right.hosts.size === 1;
  const nameOf = ({ host, section, region, key }: Omit<Difference, 'a' | 'b'>) =>
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
