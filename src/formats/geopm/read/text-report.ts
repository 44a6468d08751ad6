/**
 * Reports of GEOPM 1.0 and before, which are no YAML:
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
 * Keys stay as they are written.
 */
import { numberOf, unquoted } from '../values.ts';
import type { GeopmReport, Oddity, ReportSection, ReportsRead, SectionName } from './report.ts';

const TITLE = /^#+\s*geopm\s+(\S+)\s*#*\s*$/i;
const HOST = /^Host:\s*(.*)$/;
const REGION = /^\s*Region\s+(.*?)\s*\((0x[0-9a-f]+)\):\s*$/i;
const TOTALS = /^\s*(Unmarked|Epoch|Application) Totals:\s*$/;
const PAIR = /^(\s*)([^:]+(?::[^:\s][^:]*)*):\s*(.*)$/;
/** What old versions called the time in no region. */
const UNMARKED = /^unmarked(-region)?$/;

interface OpenSection {
  readonly section: SectionName;
  readonly region: string | null;
  readonly hash: string | null;
  readonly values: Map<string, number | string>;
  readonly line: number;
}

class TextReport {
  readonly header = new Map<string, string>();
  readonly hosts: { name: string; sections: ReportSection[]; extra: Map<string, string> }[] = [];
  readonly oddities: Oddity[] = [];
  #section: OpenSection | null = null;

  line(text: string, number: number): void {
    if (/^\s*$/.test(text)) return;
    const title = TITLE.exec(text);
    const host = HOST.exec(text);
    const region = REGION.exec(text);
    const totals = TOTALS.exec(text);
    if (title !== null) this.header.set('GEOPM Version', title[1]);
    else if (host !== null) {
      this.hosts.push({ name: host[1].trim(), sections: [], extra: new Map() });
      this.#section = null;
    } else if (region !== null) {
      const name = unquoted(region[1]).text;
      this.#open(UNMARKED.test(name) ? 'unmarked' : 'region', name, region[2], number);
    } else if (totals !== null) {
      this.#open(totals[1].toLowerCase() as SectionName, null, null, number);
    } else this.#pair(text, number);
  }

  #open(section: SectionName, region: string | null, hash: string | null, line: number): void {
    if (this.hosts.length === 0) this.hosts.push({ name: '', sections: [], extra: new Map() });
    this.#section = {
      section,
      region: section === 'region' ? region : null,
      hash,
      values: new Map(),
      line,
    };
    this.hosts[this.hosts.length - 1].sections.push(this.#section);
  }

  #pair(text: string, number: number): void {
    const pair = PAIR.exec(text);
    if (pair === null) {
      this.oddities.push({ line: number, what: `neither a heading nor a value: ${text.trim()}` });
      return;
    }
    const [, indent, name, value] = pair;
    const host = this.hosts.at(-1);
    if (this.#section !== null && indent !== '') {
      this.#section.values.set(name.trim(), numberOf(value.trim()) ?? value.trim());
    } else if (host !== undefined) host.extra.set(name.trim(), value.trim());
    else this.header.set(name.trim(), unquoted(value.trim()).text);
  }
}

/** Whether a text begins as such a report, or has its headings. */
export const isTextReport = (head: string): boolean =>
  TITLE.test(head.slice(0, head.indexOf('\n') >>> 0)) ||
  /^\s*Region\s+.*\(0x[0-9a-f]+\):/im.test(head);

export function readTextReport(text: string): ReportsRead {
  const report = new TextReport();
  text.split(/\r?\n/).forEach((line, k) => {
    report.line(line, k + 1);
  });
  const read: GeopmReport = { header: report.header, hosts: report.hosts };
  return { reports: [read], oddities: report.oddities };
}
