/** A sample of the node collector as the object that `node collect --json` prints. */
import { RawParser } from '../formats/tacc/index.ts';

/** Values that a double cannot hold exactly are decimal strings, as in `triscope read`. */
const cell = (value: bigint) =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);

/** `file`: a raw stats file of one record group. */
export function sampleFacts(file: Uint8Array) {
  const properties: Record<string, string> = {};
  const marks: string[] = [];
  const records: { type: string; device: string; values: Record<string, number | string> }[] = [];
  let time = '';
  let jobids: readonly string[] = [];
  const parser = new RawParser({
    property: (name, value) => {
      properties[name] = value.trim();
    },
    group: (group) => {
      ({ time, jobIds: jobids } = group);
    },
    mark: (text) => marks.push(text),
    record: ({ type, keys }, device, values) => {
      const named = keys.map(({ name }, k) => [name, cell(values[k])] as const);
      records.push({ type, device, values: Object.fromEntries(named) });
    },
  });
  parser.push(file);
  parser.end();
  return { ...properties, time, jobids, marks, records };
}
