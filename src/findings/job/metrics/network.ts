/** Fabric, Ethernet and Lustre's network. */
import { average, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';

/** InfiniBand, or else Omni-Path, which counts flits of 8 B. */
const DATA = sum('ib_ext', 'port_xmit_data', 'port_rcv_data');
const PACKETS = sum('ib_ext', 'port_xmit_pkts', 'port_rcv_pkts');
const FLITS = sum('opa', 'PortXmitData', 'PortRcvData');
const OPA_PACKETS = sum('opa', 'PortXmitPkts', 'PortRcvPkts');

export const FABRIC = average('avg_fabricbw', 'MiB/s', DATA, {
  or: { of: FLITS, factor: 8 },
  note: 'The original has MB for opa.',
});
export const ETHERNET = average('avg_ethbw', 'MiB/s', sum('net', 'rx_bytes', 'tx_bytes'), {
  note: 'All interfaces, the loopback and IP over InfiniBand too, as in the original.',
});
export const LNET = average('avg_lnetbw', 'MiB/s', sum('lnet', 'rx_bytes', 'tx_bytes'));

export const NETWORK: MetricFamily = {
  title: 'Network',
  set: 'summary',
  metrics: declared(
    ETHERNET,
    FABRIC,
    { ...FABRIC, name: 'max_fabricbw', highest: 'host' },
    {
      ...{ name: 'avg_packetsize', unit: 'MiB', of: DATA, per: PACKETS },
      or: { of: FLITS, factor: 8, per: OPA_PACKETS },
    },
    average('max_packetrate', '1/s', PACKETS, { highest: 'host', or: { of: OPA_PACKETS } }),
    LNET,
    { ...LNET, name: 'max_lnetbw', highest: 'host' },
    average('avg_lnetmsgs', '1/s', sum('lnet', 'rx_msgs', 'tx_msgs')),
  ),
};
