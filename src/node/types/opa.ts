/**
 * `opa`: data counters of each Omni-Path port. The datagram has base and class version 80h and up to 2048 bytes. Its
 * data follow the header: a mask of ports (32 bytes), of lanes (4), resolution (4). The answer has the port's
 * number (8 bytes) and 16 counters of 64 bits. Source: the kernel's hfi1 driver.
 */
import type { UmadAgent } from '../../os/umad.ts';
import { ask, type MadPort, request } from '../hardware/mad.ts';
import { bigEndian, isOmniPath, madType } from '../hardware/mad-type.ts';
import { UnavailableError } from '../tree.ts';
import { counter } from './type.ts';

const AGENT: UmadAgent = { queuePair: 1, managementClass: 0x04, classVersion: 0x80 };
const DATA_PORT_COUNTERS = 0x42;
const ONE_PORT = 1 << 24;
const BYTES = 2048;
const DATA = 24;
/** The last 8 of the mask's 32 bytes: ports 0 to 63. */
const PORT_MASK = DATA + 24;
const COUNTERS_AT = DATA + 32 + 4 + 4 + 8;

const METRICS = [
  counter('PortXmitData', 'data sent, in flits of 8 bytes'),
  counter('PortRcvData', 'data received, in flits of 8 bytes'),
  counter('PortXmitPkts', 'packets sent'),
  counter('PortRcvPkts', 'packets received'),
  counter('PortMulticastXmitPkts', 'packets sent to many'),
  counter('PortMulticastRcvPkts', 'packets received for many'),
  counter('PortXmitWait', 'ticks in which data waited to be sent'),
  counter('SwPortCongestion', 'packets dropped for congestion of the switch'),
  counter('PortRcvFECN', 'packets received with a forward mark of congestion'),
  counter('PortRcvBECN', 'packets received with a backward mark of congestion'),
  counter('PortXmitTimeCong', 'ticks in which the port was congested'),
  counter('PortXmitWastedBW', 'ticks in which bubbles within packets were sent'),
  counter('PortXmitWaitData', 'ticks in which a packet waited for its own data'),
  counter('PortRcvBubble', 'bubbles received'),
  counter('PortMarkFECN', 'packets that this port marked'),
  counter('PortErrorCounterSummary', 'sum of the counters of errors'),
];

/** @throws UnavailableError */
function countersOf(port: MadPort): Buffer {
  const datagram = request(AGENT, DATA_PORT_COUNTERS, ONE_PORT, BYTES);
  datagram[0] = 0x80;
  datagram.writeBigUInt64BE(1n << BigInt(port.port), PORT_MASK);
  const answer = ask(port, AGENT, port.lid, datagram);
  if (answer.length < COUNTERS_AT + 8 * METRICS.length) {
    throw new UnavailableError(`${port.adapter}/${port.port}: the answer is cut off`);
  }
  return answer.subarray(COUNTERS_AT);
}

export const OPA = madType({
  name: 'opa',
  help: 'Omni-Path ports: data counters',
  device: 'adapter/port',
  source: '/dev/infiniband/umadN: PM DataPortCounters',
  metrics: METRICS,
  adapters: isOmniPath,
  reader: (port) => {
    countersOf(port);
    return (writer) => {
      const words = countersOf(port);
      for (let k = 0; k < METRICS.length; k++) bigEndian(writer, words, k);
    };
  },
});
