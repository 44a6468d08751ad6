/**
 * Reads GEOPM's reports: YAML from 1.1 on (geopm_report(7)), text before. Numbers are read as C prints them (`3e+06`, `nan`),
 * which YAML does not always accept. Names that GEOPM left unescaped are recovered and reported.
 */
import { numberOf, unquoted } from '../values.ts';
import type { Oddity } from './oddity.ts';
import {
  isMap,
  isScalar,
  isSeq,
  jsonOf,
  type LineCounter,
  type Node,
  readDocuments,
  type YAMLMap,
} from './yaml.ts';

export type SectionName = 'region' | 'unmarked' | 'epoch' | 'application';

export interface ReportSection {
  readonly section: SectionName;
  /** The region's name; null for totals. */
  readonly region: string | null;
  /** As written, such as `0xcce45a1e`; null if the report gives none. */
  readonly hash: string | null;
  /** In the report's order; values that are not numbers stay text. */
  readonly values: ReadonlyMap<string, number | string>;
  /** Line on which it begins, from 1. */
  readonly line: number;
}

export interface ReportHost {
  readonly name: string;
  readonly sections: readonly ReportSection[];
  /** Other lines of the host, as text, such as those of agents. */
  readonly extra: ReadonlyMap<string, string>;
}

export interface GeopmReport {
  readonly header: ReadonlyMap<string, string>;
  readonly hosts: readonly ReportHost[];
}

export interface ReportsRead {
  readonly reports: readonly GeopmReport[];
  readonly oddities: readonly Oddity[];
}

/** Keys of a host that hold sections. */
const TOTALS: Readonly<Record<string, SectionName>> = {
  'Unmarked Totals': 'unmarked',
  'Epoch Totals': 'epoch',
  'Application Totals': 'application',
};
const REGIONS = 'Regions';
const HOSTS = 'Hosts';

/** Lines whose value is a name in quotes. */
const QUOTED = /^(\s*(?:-\s+)?(?:region|Profile):\s+)(".*)$/;

const jsonText = (text: string) => JSON.stringify(text);

/** The text in a form that YAML can read: names in quotes are escaped where GEOPM did not. */
function mended(text: string, oddities: Oddity[]): string {
  const lines = text.split('\n');
  for (let k = 0; k < lines.length; k++) {
    const match = QUOTED.exec(lines[k].trimEnd());
    if (match === null) continue;
    const name = unquoted(match[2]);
    if (!name.exact) {
      oddities.push({
        line: k + 1,
        what: `a name with quotes that are not escaped: read as ${name.text}`,
      });
    }
    lines[k] = match[1] + jsonText(name.text);
  }
  return lines.join('\n');
}

/** Text of a node: a scalar or a map in braces as written, anything else as JSON. */
function textOf(node: unknown, text = ''): string {
  if (isScalar(node)) return node.value === null ? '' : String(node.value);
  const written =
    isMap(node) && node.flow && node.range && text.slice(node.range[0], node.range[1]);
  if (written) return written;
  if (isMap(node) || isSeq(node)) return jsonOf(node);
  return '';
}

const readValue = (text: string): number | string => numberOf(text) ?? text;

class ReportReader {
  private readonly text: string;
  private readonly lines: LineCounter;
  private readonly oddities: Oddity[];

  constructor(text: string, lines: LineCounter, oddities: Oddity[]) {
    this.text = text;
    this.lines = lines;
    this.oddities = oddities;
  }

  report(root: YAMLMap): GeopmReport {
    const header = new Map<string, string>();
    const hosts: ReportHost[] = [];
    for (const { key, value } of root.items) {
      const name = textOf(key);
      if (name !== HOSTS) header.set(name, textOf(value, this.text));
      else if (isMap(value)) {
        for (const host of value.items) hosts.push(this.host(textOf(host.key), host.value));
        this.repeated(hosts);
      }
    }
    return { header, hosts };
  }

  private host(name: string, node: unknown): ReportHost {
    const sections: ReportSection[] = [];
    const extra = new Map<string, string>();
    if (!isMap(node)) return { name, sections, extra };
    for (const { key, value } of node.items) {
      const title = textOf(key);
      const totals = TOTALS[title];
      if (title === REGIONS && isSeq(value)) {
        for (const item of value.items)
          if (isMap(item)) sections.push(this.section('region', item, item));
      } else if (totals !== undefined && isMap(value)) {
        sections.push(this.section(totals, value, key));
      } else extra.set(title, textOf(value));
    }
    return { name, sections, extra };
  }

  /** Reports sections that a host has twice; both are kept. */
  private repeated(hosts: readonly ReportHost[]): void {
    const seen = new Set<string>();
    for (const { name, sections } of hosts) {
      for (const { section, region, hash, line } of sections) {
        const key = JSON.stringify([name, section, region, hash]);
        const what = `${region === null ? `${section} totals` : `region ${region}`} of ${name}`;
        if (seen.has(key)) this.oddities.push({ line, what: `${what} a second time` });
        seen.add(key);
      }
    }
  }

  private lineOf(node: unknown): number {
    const range = (node as Node | null)?.range;
    return range ? this.lines.linePos(range[0]).line : 0;
  }

  private section(section: SectionName, map: YAMLMap, at: unknown): ReportSection {
    const values = new Map<string, number | string>();
    let region: string | null = null;
    let hash: string | null = null;
    for (const { key, value } of map.items) {
      const name = textOf(key);
      const text = textOf(value);
      // `name` is the manual's word for the key that GEOPM writes as `region`.
      const isName = section === 'region' && (name === 'region' || name === 'name');
      const isHash = section === 'region' && name === 'hash';
      if (isName && region === null) region = text;
      else if (isHash && hash === null) hash = text;
      else if (isName || isHash || values.has(name)) {
        this.oddities.push({
          line: this.lineOf(key),
          what: `${name} a second time: the first is kept`,
        });
      } else values.set(name, readValue(text));
    }
    return { section, region, hash, values, line: this.lineOf(at) };
  }
}

/** Reads the documents of a report in YAML. */
export function readYamlReports(text: string): ReportsRead {
  const oddities: Oddity[] = [];
  const read = readDocuments(mended(text, oddities));
  oddities.push(...read.oddities);
  const reader = new ReportReader(read.text, read.lines, oddities);
  const reports = read.roots.map((root) => reader.report(root));
  oddities.sort((a, b) => a.line - b.line);
  return { reports, oddities };
}
