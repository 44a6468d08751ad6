/** Fabric, Ethernet and Lustre's network. */
import { MIB } from '../../../model/bytes.ts';
import { highest } from '../view.ts';
import { average, type MetricFamily } from './metric.ts';
import { fabric } from './types.ts';

const FABRIC = ['ib_ext.port_xmit_data', 'ib_ext.port_rcv_data'];
const PACKETS = ['ib_ext.port_xmit_pkts', 'ib_ext.port_rcv_pkts'];
const OPA = ' (opa: 8 (PortXmitData + PortRcvData); the original has MB there)';

const BYTES = ['rx_bytes', 'tx_bytes'];

export const NETWORK: MetricFamily = {
  title: 'Network',
  set: 'summary',
  metrics: [
    average(
      'avg_ethbw',
      'net',
      BYTES,
      'MiB/s',
      'All interfaces, the loopback and IP over InfiniBand too, as in the original.',
    ),
    {
      name: 'avg_fabricbw',
      unit: 'MiB/s',
      formula: `Δ(port_xmit_data + port_rcv_data) / (2²⁰ T N)${OPA}`,
      inputs: FABRIC,
      compute: (view) => {
        const { type, data, bytes } = fabric(view);
        return (bytes * view.rate(type, ...data)) / MIB;
      },
    },
    {
      name: 'max_fabricbw',
      unit: 'MiB/s',
      formula: `max over hosts and intervals of the rate of port_xmit_data + port_rcv_data, / 2²⁰${OPA}`,
      inputs: FABRIC,
      compute: (view) => {
        const { type, data, bytes } = fabric(view);
        return (bytes * highest(view.rates(type, ...data))) / MIB;
      },
    },
    {
      name: 'avg_packetsize',
      unit: 'MiB',
      formula: 'Δ(port_xmit_data + port_rcv_data) / (2²⁰ Δ(port_xmit_pkts + port_rcv_pkts))',
      inputs: [...FABRIC, ...PACKETS],
      compute: (view) => {
        const { type, data, packets, bytes } = fabric(view);
        return (bytes * view.total(type, ...data)) / (view.total(type, ...packets) * MIB);
      },
    },
    {
      name: 'max_packetrate',
      unit: '1/s',
      formula: 'max over hosts and intervals of the rate of port_xmit_pkts + port_rcv_pkts',
      inputs: PACKETS,
      compute: (view) => {
        const { type, packets } = fabric(view);
        return highest(view.rates(type, ...packets));
      },
    },
    average('avg_lnetbw', 'lnet', BYTES, 'MiB/s'),
    {
      name: 'max_lnetbw',
      unit: 'MiB/s',
      formula: 'max over hosts and intervals of the rate of rx_bytes + tx_bytes, / 2²⁰',
      inputs: ['lnet.rx_bytes', 'lnet.tx_bytes'],
      compute: (view) => highest(view.rates('lnet', ...BYTES)) / MIB,
    },
    average('avg_lnetmsgs', 'lnet', ['rx_msgs', 'tx_msgs'], '1/s'),
  ],
};
