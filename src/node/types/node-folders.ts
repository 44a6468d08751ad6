/** Files of the NUMA nodes, /sys/devices/system/node/nodeN/FILE: lines with a key and a number. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { KeyLines } from './key-lines.ts';
import { KeyValues } from './key-values.ts';
import type { Collector, NodeType } from './type.ts';

const FOLDER = 'sys/devices/system/node';

/** A record per NUMA node. In each line, `before` words come before the key, which may end in a colon. */
export function nodeFolders(
  tree: NodeTree,
  { name: type, metrics }: Pick<NodeType, 'name' | 'metrics'>,
  file: string,
  before: number,
): Collector {
  const keys = metrics.map(({ key }) => key);
  const values = new KeyValues(metrics.length);
  const open = (name: string): Device | null => {
    if (!/^node\d+$/.test(name)) return null;
    const source = tree.open(`${FOLDER}/${name}/${file}`);
    const lines = new KeyLines(keys, before);
    const node = name.slice('node'.length);
    const write = (writer: RawWriter) => {
      const end = source.readPiece();
      if (lines.find(source.bytes, end, values) === 0) {
        throw new Error(`${source.path} has none of the keys`);
      }
      writer.record(type, node);
      values.write(writer, source.bytes);
      writer.endRecord(metrics.length);
    };
    return { write, close: () => source.close() };
  };
  return new Devices(`/${FOLDER}`, () => tree.devices(FOLDER), open);
}
