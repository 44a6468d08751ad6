/** Names of tables: the names in files, if they are possible and free. */
import { plainName } from '../model/schema-check.ts';

/** Triscope's own. */
const RESERVED = [
  ...['recording', 'metrics', 'pes', 'entities', 'clocks', 'link', 'suspect', 'note'],
  ...['gvt', 'pe_on_node'],
];

/** By the files' name, in lower case: a table's name. Names of derived tables, `…_rate`, stay free. */
export function tableNames(given: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const plain = given.map((name) => plainName(name).replace(/[^\w-]/g, '_'));
  const taken = new Set([...RESERVED, ...plain.map((name) => `${name}_rate`.toLowerCase())]);
  for (const [k, name] of given.entries()) {
    let unique = plain[k];
    for (let n = 2; taken.has(unique.toLowerCase()); n++) unique = `${plain[k]}_${n}`;
    taken.add(unique.toLowerCase()).add(`${unique}_rate`.toLowerCase());
    names.set(name.toLowerCase(), unique);
  }
  return names;
}
