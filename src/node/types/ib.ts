/**
 * `ib`: counters of active InfiniBand ports. Keys and widths as in tacc_stats 2.x. They are only read: version 1.0
 * reset them after each read. Kernels since 4.5 give 64-bit data and packets if the adapter has them; these then
 * exceed the width in the schema.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { NumberFiles } from './number-files.ts';
import { type Collector, counter, type NodeType } from './type.ts';

const FOLDER = 'sys/class/infiniband';
const BITS = 32;

const METRICS = [
  counter('excessive_buffer_overrun_errors', 'buffer overruns in sequence', '', BITS),
  counter('link_downed', 'times that the link went down', '', BITS),
  counter('link_error_recovery', 'times that the link recovered from an error', '', BITS),
  counter('local_link_integrity_errors', 'times that local errors exceeded their bound', '', BITS),
  counter('port_rcv_constraint_errors', 'packets received and discarded by a filter', '', BITS),
  counter('port_rcv_data', 'received', '4B', BITS),
  counter('port_rcv_errors', 'bad packets received', '', BITS),
  counter('port_rcv_packets', 'packets received', '', BITS),
  counter('port_rcv_remote_physical_errors', 'packets received that were marked bad', '', BITS),
  counter('port_rcv_switch_relay_errors', 'packets that the switch could not pass on', '', BITS),
  counter('port_xmit_constraint_errors', 'packets not sent, by a filter', '', BITS),
  counter('port_xmit_data', 'sent', '4B', BITS),
  counter('port_xmit_discards', 'packets discarded instead of sent', '', BITS),
  counter('port_xmit_packets', 'packets sent', '', BITS),
  counter('port_xmit_wait', 'ticks with something to send and no credit', 'ms', BITS),
  counter('symbol_error', 'symbols with errors', '', BITS),
  counter('VL15_dropped', 'management packets dropped for lack of buffers', '', BITS),
];
const KEYS = METRICS.map(({ key }) => key);

/** Keys for which all ports have a number: some drivers lack some, and write `N/A (no PMA)` or nothing. */
function metricsOf(tree: NodeTree, ports: readonly string[]) {
  const each = ports.map((port) => {
    const numbers = new NumberFiles(tree, countersOf(port), KEYS);
    try {
      return numbers.readable();
    } finally {
      numbers.close();
    }
  });
  const some = each.filter((there) => there.includes(true));
  if (some.length === 0) return METRICS;
  return METRICS.filter((_, k) => some.every((there) => there[k]));
}

const countersOf = (port: string) => `${FOLDER}/${port}/counters`;

function open(tree: NodeTree): Collector {
  const list = () => {
    const adapters = tree.devices(FOLDER);
    if (adapters === null) return null;
    return adapters.flatMap((adapter) =>
      (tree.devices(`${FOLDER}/${adapter}/ports`) ?? []).map((port) => `${adapter}/ports/${port}`),
    );
  };
  const metrics = metricsOf(tree, list() ?? []);
  const keys = metrics.map(({ key }) => key);
  const device = (port: string): Device => {
    const state = tree.open(`${FOLDER}/${port}/state`);
    const numbers = new NumberFiles(tree, countersOf(port), keys);
    const name = port.replace('/ports/', '.');
    const write = (writer: RawWriter) => {
      const length = state.readPiece();
      // Such as `4: ACTIVE`.
      if (!state.bytes.toString('latin1', 0, length).includes('ACTIVE')) return;
      writer.record('ib', name);
      numbers.write(writer);
      writer.endRecord(metrics.length);
    };
    const close = () => {
      state.close();
      numbers.close();
    };
    return { write, close };
  };
  const devices = new Devices(`/${FOLDER}`, list, device);
  return {
    metrics,
    collect: (writer) => devices.collect(writer),
    close: () => devices.close(),
  };
}

export const IB: NodeType = {
  name: 'ib',
  help: 'traffic and errors of InfiniBand ports',
  device: 'ADAPTER.PORT that is active',
  source: '/sys/class/infiniband/ADAPTER/ports/PORT/counters/*',
  metrics: METRICS,
  open,
};
