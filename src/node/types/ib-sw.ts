/**
 * `ib_sw`: the same traffic seen from the other end of the cable: the switch's port, whose counters nobody on this
 * machine resets. What the switch sends, this machine receives.
 */
import { extendedCounters, switchPort } from '../hardware/mad.ts';
import { bigEndian, isOmniPath, madType } from '../hardware/mad-type.ts';
import { counter } from './type.ts';

/** Of the extended counters: data sent, packets sent, data received, packets received. */
const ORDER = [0, 2, 1, 3];

export const IB_SW = madType({
  name: 'ib_sw',
  help: 'InfiniBand ports: traffic as the switch counts it',
  device: 'adapter/port',
  source: '/dev/infiniband/umadN: PerfMgt PortCountersExtended of the switch, by directed route',
  metrics: [
    counter('rx_bytes', 'data received', '4B'),
    counter('rx_packets', 'packets received'),
    counter('tx_bytes', 'data sent', '4B'),
    counter('tx_packets', 'packets sent'),
  ],
  adapters: (name) => !isOmniPath(name),
  reader: (port) => {
    const other = switchPort(port);
    const read = () => extendedCounters(port, other.lid, other.port).words;
    read();
    return (writer) => {
      const words = read();
      for (const k of ORDER) bigEndian(writer, words, k);
    };
  },
});
