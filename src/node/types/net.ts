/** `net`: traffic of network interfaces that are up. Keys as in tacc_stats. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { NumberFiles } from './number-files.ts';
import { counter, type NodeType } from './type.ts';

const FOLDER = 'sys/class/net';
/** IFF_UP of linux/if.h. */
const UP = 1;

const METRICS = [
  counter('collisions', 'collisions when sending'),
  counter('multicast', 'multicast packets received'),
  counter('rx_bytes', 'received', 'B'),
  counter('rx_compressed', 'compressed packets received'),
  counter('rx_crc_errors', 'packets received with a wrong checksum'),
  counter('rx_dropped', 'packets received and dropped'),
  counter('rx_errors', 'bad packets received'),
  counter('rx_fifo_errors', 'overruns of the receiving FIFO'),
  counter('rx_frame_errors', 'packets received with a bad frame'),
  counter('rx_length_errors', 'packets received with a wrong length'),
  counter('rx_missed_errors', 'packets that the device missed, for lack of buffers'),
  counter('rx_over_errors', 'overruns of the receiving ring'),
  counter('rx_packets', 'packets received'),
  counter('tx_aborted_errors', 'sending was aborted'),
  counter('tx_bytes', 'sent', 'B'),
  counter('tx_carrier_errors', 'the carrier was lost when sending'),
  counter('tx_compressed', 'compressed packets sent'),
  counter('tx_dropped', 'packets dropped before they were sent'),
  counter('tx_errors', 'packets that could not be sent'),
  counter('tx_fifo_errors', 'underruns of the sending FIFO'),
  counter('tx_heartbeat_errors', 'heartbeats that failed'),
  counter('tx_packets', 'packets sent'),
  counter('tx_window_errors', 'late collisions'),
];
const KEYS = METRICS.map(({ key }) => key);

function open(tree: NodeTree) {
  const device = (name: string): Device => {
    const flags = tree.open(`${FOLDER}/${name}/flags`);
    let numbers: NumberFiles;
    try {
      numbers = new NumberFiles(tree, `${FOLDER}/${name}/statistics`, KEYS);
    } catch (error) {
      flags.close();
      throw error;
    }
    const write = (writer: RawWriter) => {
      const length = flags.readPiece();
      // Such as 0x1003.
      if ((Number(flags.bytes.toString('latin1', 0, length)) & UP) === 0) return;
      writer.record('net', name);
      numbers.write(writer);
      writer.endRecord(METRICS.length);
    };
    const close = () => {
      flags.close();
      numbers.close();
    };
    return { write, close };
  };
  return new Devices(`/${FOLDER}`, () => tree.list(FOLDER), device);
}

export const NET: NodeType = {
  name: 'net',
  help: 'traffic of network interfaces',
  device: 'interface that is up',
  source: '/sys/class/net/INTERFACE/statistics/*',
  metrics: METRICS,
  open,
};
