/**
 * `lnet`: traffic of Lustre's network layer. Schema as in tacc_stats up to 2.3.3, so that
 * a job with files of both is one: bytes dropped have no unit there.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';
import { type Collector, counter, type NodeType } from './type.ts';

/** Up to Lustre 2.10; in newer versions. */
const PLACES = ['proc/sys/lnet/stats', 'sys/kernel/debug/lnet/stats'];

const METRICS = [
  counter('tx_msgs', 'messages sent'),
  counter('rx_msgs', 'messages received'),
  counter('rx_msgs_dropped', 'messages received and dropped'),
  counter('tx_bytes', 'sent', 'B'),
  counter('rx_bytes', 'received', 'B'),
  counter('rx_bytes_dropped', 'bytes received and dropped'),
];
/** Keys of the file's numbers: msgs_alloc, msgs_max, errors, send, recv, route, drop, then bytes of the last four. */
const KEY_OF = [-1, -1, -1, 0, 1, -1, 2, 3, 4, -1, 5];

function open(tree: NodeTree): Collector {
  const file = openFirst(tree);
  const scanner = new Scanner();
  const values = new KeyValues(METRICS.length);
  const collect = (writer: RawWriter) => {
    scanner.over(file.bytes, file.readPiece());
    values.clear();
    let found = 0;
    for (const key of KEY_OF) {
      if (!scanner.word()) break;
      if (key >= 0 && values.set(key, scanner.bytes, scanner.from, scanner.to)) found++;
    }
    if (found < METRICS.length) throw new Error(`${file.path} has no ${KEY_OF.length} numbers`);
    writer.record('lnet', '-');
    values.write(writer, scanner.bytes);
    writer.endRecord(METRICS.length);
  };
  return { collect, close: () => file.close() };
}

function openFirst(tree: NodeTree) {
  for (const place of PLACES) {
    try {
      return tree.open(place);
    } catch {
      // The next place may work.
    }
  }
  throw new UnavailableError(`no Lustre network: there is no /${PLACES.join(' and no /')}`);
}

function mayBlock(tree: NodeTree): true {
  // Listing a folder does not open files that may block.
  for (const place of PLACES) {
    if (tree.list(place.slice(0, place.lastIndexOf('/')))?.includes('stats')) return true;
  }
  throw new UnavailableError(`no Lustre network: there is no /${PLACES.join(' and no /')}`);
}

export const LNET: NodeType = {
  name: 'lnet',
  help: "traffic of Lustre's network layer",
  device: 'node (-)',
  source: '/proc/sys/lnet/stats or /sys/kernel/debug/lnet/stats',
  metrics: METRICS,
  open,
  mayBlock,
};
