/**
 * Reports of GEOPM 1.0 and earlier, which are not YAML:
 *
 * ```
 * ##### geopm 1.0.0 #####
 * Start Time: …
 * Profile: …
 *
 * Host: mcfly1
 * Region dgemm (0x00000000a74bbf35):
 * 	runtime (sec): 12.5
 * Epoch Totals:
 * Application Totals:
 * ```
 * Keys are kept as written.
 */
import { numberOf, unquoted } from '../values.ts';
import type { Oddity } from './oddity.ts';
import type { GeopmReport, ReportSection, ReportsRead, SectionName } from './report.ts';

const TITLE = /^#+\s*geopm\s+(\S+)/i;
const HOST = /^Host:\s*(.*)$/;
const REGION = /^\s*Region\s(.*)$/i;
/** Name in a region's heading, without blanks at its end. */
const HASH = /\((0x[0-9a-f]+)\):$/i;
const TOTALS = /^\s*(Unmarked|Epoch|Application) Totals:\s*$/;
const PAIR = /^(\s*)([^:\s][^:]*(?::[^:\s][^:]*)*):(.*)$/;
/** What old versions called the time in no region. */
const UNMARKED = /^unmarked(-region)?$/;

interface OpenSection {
  readonly section: SectionName;
  readonly region: string | null;
  readonly hash: string | null;
  readonly values: Map<string, number | string>;
  readonly line: number;
}

/** A region's heading; null if the line is none. Looks at each character only a few times, whatever the line holds. */
function regionIn(line: string): { readonly name: string; readonly hash: string } | null {
  const rest = REGION.exec(line)?.[1].trimEnd();
  const hash = rest === undefined ? null : HASH.exec(rest);
  if (rest === undefined || hash === null) return null;
  return { name: rest.slice(0, hash.index).trim(), hash: hash[1] };
}

class TextReport {
  readonly header = new Map<string, string>();
  readonly hosts: { name: string; sections: ReportSection[]; extra: Map<string, string> }[] = [];
  readonly oddities: Oddity[] = [];
  private section: OpenSection | null = null;
  /** This line is no heading although one was expected: the values that follow belong to no section. */
  private isBroken = false;

  line(text: string, number: number): void {
    if (/^\s*$/.test(text)) return;
    const title = TITLE.exec(text);
    const host = HOST.exec(text);
    const region = regionIn(text);
    const totals = TOTALS.exec(text);
    if (title !== null) this.header.set('GEOPM Version', title[1]);
    else if (host !== null) {
      this.hosts.push({ name: host[1].trim(), sections: [], extra: new Map() });
      this.section = null;
      this.isBroken = false;
    } else if (region !== null) {
      const name = unquoted(region.name).text;
      this.open(UNMARKED.test(name) ? 'unmarked' : 'region', name, region.hash, number);
    } else if (totals !== null) {
      this.open(totals[1].toLowerCase() as SectionName, null, null, number);
    } else this.pair(text, number);
  }

  private open(
    section: SectionName,
    region: string | null,
    hash: string | null,
    line: number,
  ): void {
    if (this.hosts.length === 0) this.hosts.push({ name: '', sections: [], extra: new Map() });
    this.isBroken = false;
    this.section = {
      section,
      region: section === 'region' ? region : null,
      hash,
      values: new Map(),
      line,
    };
    this.hosts[this.hosts.length - 1].sections.push(this.section);
  }

  private close(): void {
    this.isBroken = this.section !== null || this.isBroken;
    this.section = null;
  }

  private pair(text: string, number: number): void {
    const pair = PAIR.exec(text);
    if (pair === null) {
      if (!/^\s/.test(text)) this.close();
      this.oddities.push({ line: number, what: `neither a heading nor a value: ${text.trim()}` });
      return;
    }
    const [, indent, , value] = pair;
    const name = pair[2].trim();
    // A line that is not indented belongs to no section. It may be a damaged heading: what follows
    // does not belong to the section before.
    if (indent === '') this.close();
    const host = this.hosts.at(-1);
    if (this.section !== null) {
      if (this.section.values.has(name)) {
        this.oddities.push({ line: number, what: `${name} a second time: the first is kept` });
      } else this.section.values.set(name, numberOf(value.trim()) ?? value.trim());
    } else if (indent !== '' && this.isBroken) {
      const what = `${name} stands below no heading: left out`;
      this.oddities.push({ line: number, what });
    } else if (host !== undefined) host.extra.set(name, value.trim());
    else this.header.set(name, unquoted(value.trim()).text);
  }
}

/** Whether a text begins like such a report, or has its headings. */
export const isTextReport = (head: string): boolean =>
  TITLE.test(head.slice(0, head.indexOf('\n') >>> 0)) ||
  /^[ \t]*Region[ \t].*\(0x[0-9a-f]+\):/im.test(head);

export function readTextReport(text: string): ReportsRead {
  const report = new TextReport();
  text.split(/\r?\n/).forEach((line, k) => {
    report.line(line, k + 1);
  });
  const read: GeopmReport = { header: report.header, hosts: report.hosts };
  return { reports: [read], oddities: report.oddities };
}
