/** `net`: traffic of network interfaces that are up. Keys as in tacc_stats. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { NetTable, netPlace } from './net-table.ts';
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

const PLACES = KEYS.map(netPlace);

/** Numbers by which an interface in the table is recognised as one of /sys, whatever their names. */
const WITNESSES = ['rx_bytes', 'tx_bytes'];
const WITNESS_PLACES = WITNESSES.map(netPlace);

/** Whether the table has this interface's numbers. They grow meanwhile, so the table is read before and after the files. */
function tableHolds(tree: NodeTree, table: NetTable, name: string): boolean {
  const before = table.values(name, WITNESS_PLACES);
  const texts = WITNESSES.map((key) => tree.text(`${FOLDER}/${name}/statistics/${key}`) ?? '');
  const after = table.values(name, WITNESS_PLACES);
  if (before === null || after === null) return false;
  return texts.every(
    (text, k) => /^\d+$/.test(text) && before[k] <= BigInt(text) && BigInt(text) <= after[k],
  );
}

/** An interface: its numbers from the table if that has them, otherwise from the files. */
class Interface implements Device {
  private readonly tree: NodeTree;
  private readonly name: string;
  private readonly flags: KernelFile;
  private readonly files: NumberFiles;
  private table: NetTable | null;
  private isCompared = false;

  constructor(tree: NodeTree, name: string, table: NetTable | null) {
    this.tree = tree;
    this.name = name;
    this.flags = tree.open(`${FOLDER}/${name}/flags`);
    this.files = new NumberFiles(tree, `${FOLDER}/${name}/statistics`, KEYS);
    this.table = table;
  }

  /** Its row in the table; -1 if that row is not this interface's. */
  private row(table: NetTable): number {
    if (!table.isUsable) return -1;
    if (!this.isCompared && !tableHolds(this.tree, table, this.name)) this.table = null;
    this.isCompared = true;
    return this.table === null ? -1 : table.row(this.name);
  }

  write(writer: RawWriter): void {
    const length = this.flags.readPiece();
    // Such as 0x1003.
    if ((Number(this.flags.bytes.toString('latin1', 0, length)) & UP) === 0) return;
    writer.record('net', this.name);
    const table = this.table;
    const row = table === null ? -1 : this.row(table);
    if (table === null || row < 0) this.files.write(writer);
    else {
      for (let k = 0; k < PLACES.length; k++) {
        if (!table.write(writer, row, PLACES[k])) this.files.writeOne(writer, k);
      }
    }
    writer.endRecord(METRICS.length);
  }

  close(): void {
    this.flags.close();
    this.files.close();
  }
}

function open(tree: NodeTree) {
  const table = NetTable.of(tree);
  const list = () => {
    const names = tree.devices(FOLDER);
    if (names !== null) table?.read(names);
    return names;
  };
  const device = (name: string) => new Interface(tree, name, table);
  return new Devices(`/${FOLDER}`, list, device);
}

export const NET: NodeType = {
  name: 'net',
  help: 'traffic of network interfaces',
  device: 'interface that is up',
  source: '/sys/class/net/INTERFACE/statistics/*',
  metrics: METRICS,
  open,
};
