/** Files of the NUMA nodes: /sys/devices/system/node/nodeN/FILE, lines with a key and a number. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { KeyTable, KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';
import type { Collector, NodeType } from './type.ts';

const FOLDER = 'sys/devices/system/node';
const COLON = 0x3a;

/** A record per NUMA node. In each line `before` words come before the key; a colon ends it, or not. */
export function nodeFolders(
  tree: NodeTree,
  { name: type, metrics }: Pick<NodeType, 'name' | 'metrics'>,
  file: string,
  before: number,
): Collector {
  const table = new KeyTable(metrics.map(({ key }) => key));
  const values = new KeyValues(metrics.length);
  const scanner = new Scanner();
  const open = (name: string): Device => {
    const source = tree.open(`${FOLDER}/${name}/${file}`);
    const node = name.slice('node'.length);
    const write = (writer: RawWriter) => {
      scanner.over(source.bytes, source.readPiece());
      values.clear();
      let found = 0;
      do {
        if (!scanner.wordAfter(before)) continue;
        const isClosed = scanner.bytes[scanner.to - 1] === COLON;
        const key = table.find(scanner.bytes, scanner.from, scanner.to - (isClosed ? 1 : 0));
        if (key < 0 || !scanner.word()) continue;
        if (values.set(key, scanner.bytes, scanner.from, scanner.to)) found++;
      } while (scanner.line());
      if (found === 0) throw new Error(`${source.path} has none of the keys`);
      writer.record(type, node);
      values.write(writer, scanner.bytes);
      writer.endRecord(metrics.length);
    };
    return { write, close: () => source.close() };
  };
  const list = () => tree.list(FOLDER)?.filter((name) => /^node\d+$/.test(name)) ?? null;
  return new Devices(`/${FOLDER}`, list, open);
}
