/** Names of schemas for several recordings. */
import { MEASURES } from './measure-macros.ts';
import type { Sources } from './sources.ts';

const RESERVED = [MEASURES, 'main', 'temp', 'system', 'memory', 'information_schema', 'pg_catalog'];

/** A schema's name for each recording: its folder's as an identifier, numbered where taken. */
export function schemaNames(all: readonly Sources[]): string[] {
  const taken = new Set(RESERVED);
  return all.map(({ name }) => {
    const plain = name.replace(/\W+/g, '_').replace(/^(?=\d|$)/, '_');
    let schema = plain;
    for (let k = 2; taken.has(schema.toLowerCase()); k++) schema = `${plain}_${k}`;
    taken.add(schema.toLowerCase());
    return schema;
  });
}
