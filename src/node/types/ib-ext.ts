/** `ib_ext`: the extended counters of each InfiniBand port of this machine, requested by datagram. */
import { extendedCounters } from '../hardware/mad.ts';
import { bigEndian, isOmniPath, madType } from '../hardware/mad-type.ts';
import { control, counter } from './type.ts';

const COUNTERS = [
  counter('port_xmit_data', 'data sent', '4B'),
  counter('port_rcv_data', 'data received', '4B'),
  counter('port_xmit_pkts', 'packets sent'),
  counter('port_rcv_pkts', 'packets received'),
  counter('port_unicast_xmit_pkts', 'packets sent to one port'),
  counter('port_unicast_rcv_pkts', 'packets received for one port'),
  counter('port_multicast_xmit_pkts', 'packets sent to many'),
  counter('port_multicast_rcv_pkts', 'packets received for many'),
];

export const IB_EXT = madType({
  name: 'ib_ext',
  help: 'InfiniBand ports: extended counters',
  device: 'adapter/port',
  source: '/dev/infiniband/umadN: PerfMgt PortCountersExtended',
  metrics: [
    control('port_select', 'port that answered'),
    control('counter_select', 'counters that were asked for'),
    ...COUNTERS,
  ],
  adapters: (name) => !isOmniPath(name),
  reader: (port) => {
    const read = () => extendedCounters(port, port.lid, port.port);
    read();
    return (writer) => {
      const { portSelect, counterSelect, words } = read();
      writer.number(portSelect);
      writer.number(counterSelect);
      for (let k = 0; k < COUNTERS.length; k++) bigEndian(writer, words, k);
    };
  },
});
