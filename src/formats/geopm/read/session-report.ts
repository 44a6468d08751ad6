/** Reports of geopmsession: statistics of each signal, in YAML (one document a report) or as a table. */
import { numberOf } from '../values.ts';
import type { Oddity } from './oddity.ts';
import { isMap, isScalar, type LineCounter, readDocuments, type YAMLMap } from './yaml.ts';

/** One report, with the names of the table's columns as keys, such as `TIME-mean`. */
export type SessionRecord = ReadonlyMap<string, number | string>;

interface SessionReportsRead {
  readonly reports: readonly SessionRecord[];
  readonly oddities: readonly Oddity[];
}

const METRICS = 'metrics';
/** Keys whose values are texts. */
const TEXTS = /^(host|sample-time-first)$/;

class SessionReader {
  readonly oddities: Oddity[];
  private readonly lines: LineCounter;

  constructor(lines: LineCounter, oddities: Oddity[]) {
    this.lines = lines;
    this.oddities = oddities;
  }

  report(map: YAMLMap): SessionRecord {
    const values = new Map<string, number | string>();
    this.putAll(values, map, '');
    return values;
  }

  private putAll(into: Map<string, number | string>, map: YAMLMap, prefix: string): void {
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (isMap(value)) {
        this.putAll(into, value, name === METRICS && prefix === '' ? '' : `${prefix}${name}-`);
      } else this.put(into, prefix + name, isScalar(value) ? String(value.value) : '', key);
    }
  }

  private put(into: Map<string, number | string>, name: string, text: string, key: unknown): void {
    const tell = (what: string) => {
      const range = isScalar(key) ? key.range : undefined;
      this.oddities.push({ line: range ? this.lines.linePos(range[0]).line : 0, what });
    };
    if (into.has(name)) {
      tell(`${name} a second time: the first is kept`);
      return;
    }
    const number = numberOf(text);
    if (number === null && text !== '' && !TEXTS.test(name)) {
      tell(`${name} is not a number: ${text.slice(0, 40)}`);
    }
    into.set(name, number ?? text);
  }
}

/** Reads the documents of a session's report in YAML. */
export function readSessionReports(text: string): SessionReportsRead {
  const { roots, lines, oddities } = readDocuments(text);
  const reader = new SessionReader(lines, oddities);
  const reports = roots.map((root) => reader.report(root));
  return { reports, oddities: oddities.toSorted((a, b) => a.line - b.line) };
}
