/** `sysv_shm`: segments of System V shared memory, all together. Keys as in tacc_stats. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

const METRICS = [
  gauge('mem_used', 'size of all segments', 'B'),
  gauge('segs_used', 'number of segments'),
];
const [MEMORY, SEGMENTS] = [0, 1];
/** Columns before the size: key, id, permissions. */
const BEFORE_SIZE = 3;

function open(tree: NodeTree): Collector {
  const file = tree.open('proc/sysvipc/shm');
  const scanner = new Scanner();
  const values = new KeyValues(METRICS.length);
  const collect = (writer: RawWriter) => {
    const end = file.read();
    scanner.over(file.bytes, end);
    values.clear();
    // The first line is a heading.
    while (scanner.line()) {
      if (!scanner.wordAfter(BEFORE_SIZE)) continue;
      if (!values.add(MEMORY, scanner.bytes, scanner.from, scanner.to)) continue;
      values.addParts(SEGMENTS, 0, 1);
    }
    writer.record('sysv_shm', '-');
    values.write(writer, scanner.bytes);
    writer.endRecord(METRICS.length);
  };
  return { collect, close: () => file.close() };
}

export const SYSV_SHM: NodeType = {
  name: 'sysv_shm',
  help: 'usage of System V shared memory',
  device: 'node (-)',
  source: '/proc/sysvipc/shm',
  metrics: METRICS,
  open,
};
