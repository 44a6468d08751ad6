/** Reports of geopmsession: statistics of each signal, in YAML (one document a report) or as a table. */
import { numberOf } from '../values.ts';
import { isMap, isScalar, parseAllDocuments, type YAMLMap } from './yaml.ts';

/** One report: keys as the table's columns are called, such as `TIME-mean`. */
export type SessionReport = ReadonlyMap<string, number | string>;

const METRICS = 'metrics';

function putAll(into: Map<string, number | string>, map: YAMLMap, prefix: string): void {
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (isMap(value))
      putAll(into, value, name === METRICS && prefix === '' ? '' : `${prefix}${name}-`);
    else {
      const text = isScalar(value) ? String(value.value) : '';
      into.set(prefix + name, numberOf(text) ?? text);
    }
  }
}

/** Reads the documents of a session's report in YAML. */
export function readSessionReports(text: string): SessionReport[] {
  const documents = parseAllDocuments(text, { schema: 'failsafe', prettyErrors: false });
  return documents.flatMap(({ contents }) => {
    if (!isMap(contents)) return [];
    const values = new Map<string, number | string>();
    putAll(values, contents, '');
    return [values];
  });
}
