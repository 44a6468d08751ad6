/** Fabric, Ethernet and Lustre's network. */
import { highest, type JobView } from '../view.ts';
import type { MetricFamily } from './metric.ts';
import { fabric } from './types.ts';

const MB = 2 ** 20;
const FABRIC = ['ib_ext.port_xmit_data', 'ib_ext.port_rcv_data'];
const PACKETS = ['ib_ext.port_xmit_pkts', 'ib_ext.port_rcv_pkts'];
const OPA = ' (opa: PortXmitData, PortRcvData; 125000 for 2²⁰)';

const lnetBytes = (view: JobView) => view.rate('lnet', 'rx_bytes', 'tx_bytes');

export const NETWORK: MetricFamily = {
  title: 'Network',
  set: 'summary',
  metrics: [
    {
      name: 'avg_ethbw',
      unit: 'MiB/s',
      formula: 'Δ(rx_bytes + tx_bytes) / (2²⁰ T N)',
      inputs: ['net.rx_bytes', 'net.tx_bytes'],
      note: 'All interfaces, the loopback and IP over InfiniBand too, as in the original.',
      compute: (view) => view.rate('net', 'rx_bytes', 'tx_bytes') / MB,
    },
    {
      name: 'avg_fabricbw',
      unit: 'MiB/s',
      formula: `Δ(port_xmit_data + port_rcv_data) / (2²⁰ T N)${OPA}`,
      inputs: FABRIC,
      compute: (view) => {
        const { type, data, perMb } = fabric(view);
        return view.rate(type, ...data) / perMb;
      },
    },
    {
      name: 'max_fabricbw',
      unit: 'MiB/s',
      formula: `max over hosts and intervals of the rate of port_xmit_data + port_rcv_data, / 2²⁰${OPA}`,
      inputs: FABRIC,
      compute: (view) => {
        const { type, data, perMb } = fabric(view);
        return highest(view.rates(type, ...data)) / perMb;
      },
    },
    {
      name: 'avg_packetsize',
      unit: 'MiB',
      formula: 'Δ(port_xmit_data + port_rcv_data) / (2²⁰ Δ(port_xmit_pkts + port_rcv_pkts))',
      inputs: [...FABRIC, ...PACKETS],
      compute: (view) => {
        const { type, data, packets, perMb } = fabric(view);
        return view.total(type, ...data) / (view.total(type, ...packets) * perMb);
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
    {
      name: 'avg_lnetbw',
      unit: 'MiB/s',
      formula: 'Δ(rx_bytes + tx_bytes) / (2²⁰ T N)',
      inputs: ['lnet.rx_bytes', 'lnet.tx_bytes'],
      compute: (view) => lnetBytes(view) / MB,
    },
    {
      name: 'max_lnetbw',
      unit: 'MiB/s',
      formula: 'max over hosts and intervals of the rate of rx_bytes + tx_bytes, / 2²⁰',
      inputs: ['lnet.rx_bytes', 'lnet.tx_bytes'],
      compute: (view) => highest(view.rates('lnet', 'rx_bytes', 'tx_bytes')) / MB,
    },
    {
      name: 'avg_lnetmsgs',
      unit: '1/s',
      formula: 'Δ(rx_msgs + tx_msgs) / (T N)',
      inputs: ['lnet.rx_msgs', 'lnet.tx_msgs'],
      compute: (view) => view.rate('lnet', 'rx_msgs', 'tx_msgs'),
    },
  ],
};
