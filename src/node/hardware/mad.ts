/**
 * Management datagrams (MAD) that ask ports for their counters: 256 bytes, big-endian. They begin with a header of 24
 * bytes: base version, class, class version, method; status; 2 bytes of the class's own; transaction (8); attribute;
 * 2 bytes; modifier (4). Source: InfiniBand Architecture Specification, vol. 1, 13.4, 14.2 and 16.1.
 */
import type { UmadAgent } from '../../os/umad.ts';
import { UnavailableError } from '../tree.ts';

export const BYTES = 256;
const GET = 1;
const GET_RESPONSE = 0x81;
const PERFORMANCE = 0x04;
const DIRECTED_ROUTE = 0x81;
const NODE_INFO = 0x11;
const PORT_INFO = 0x15;
const PORT_COUNTERS_EXTENDED = 0x1d;
/** Byte at which an attribute's own data begin. */
const DATA = 64;
/** Ports on a datagram's route, from the first hop on, at index 1 and up. */
const INITIAL_PATH = 128;
/** No LID: by directed route only. */
const PERMISSIVE_LID = 0xffff;
const SWITCH = 2;

const SUBNET: UmadAgent = { queuePair: 0, managementClass: DIRECTED_ROUTE, classVersion: 1 };
const COUNTERS: UmadAgent = { queuePair: 1, managementClass: PERFORMANCE, classVersion: 1 };

/** A local port from which datagrams can be sent. */
export interface MadPort {
  /** HCA and port, as in /sys/class/infiniband. */
  readonly adapter: string;
  readonly port: number;
  /** The port's local address. */
  readonly lid: number;
  /** The answer to a datagram. @throws Error if there is none */
  exchange(agent: UmadAgent, lid: number, datagram: Uint8Array): Uint8Array;
  close(): void;
}

let transactions = 0;

export function request(
  agent: UmadAgent,
  attribute: number,
  modifier: number,
  bytes = BYTES,
): Buffer {
  const datagram = Buffer.alloc(bytes);
  datagram[0] = 1;
  datagram[1] = agent.managementClass;
  datagram[2] = agent.classVersion;
  datagram[3] = GET;
  transactions = (transactions + 1) >>> 0;
  datagram.writeUInt32BE(transactions, 12);
  datagram.writeUInt16BE(attribute, 16);
  datagram.writeUInt32BE(modifier, 20);
  return datagram;
}

/** Sends a request and checks its answer. @throws UnavailableError */
export function ask(port: MadPort, agent: UmadAgent, lid: number, datagram: Buffer): Buffer {
  const where = `${port.adapter}/${port.port}`;
  let answer: Buffer;
  try {
    const bytes = port.exchange(agent, lid, datagram);
    answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch (error) {
    throw new UnavailableError(`${where}: ${(error as Error).message}`);
  }
  const attribute = datagram.readUInt16BE(16);
  if (answer.length < BYTES || answer[3] !== GET_RESPONSE || answer.readUInt16BE(16) !== attribute)
    throw new UnavailableError(
      `${where}: the answer for attribute ${attribute} belongs to another request`,
    );
  // In a directed route, bit 15 is the direction.
  const status = answer.readUInt16BE(4) & 0x7fff;
  if (status !== 0) {
    throw new UnavailableError(`${where}: attribute ${attribute} refused with status ${status}`);
  }
  return answer;
}

/** Counters of a port, 64 bits each, in the specification's order. */
interface ExtendedCounters {
  readonly portSelect: number;
  readonly counterSelect: number;
  /** Of these eight: data sent and received (in units of 4 bytes), packets, unicast, multicast. */
  readonly words: Buffer;
}

/** Asks `lid` for the counters of its port `port`. @throws UnavailableError */
export function extendedCounters(from: MadPort, lid: number, port: number): ExtendedCounters {
  const datagram = request(COUNTERS, PORT_COUNTERS_EXTENDED, 0);
  datagram[DATA + 1] = port;
  const answer = ask(from, COUNTERS, lid, datagram);
  return {
    portSelect: answer[DATA + 1],
    counterSelect: answer.readUInt16BE(DATA + 2),
    words: answer.subarray(DATA + 8, DATA + 8 + 8 * 8),
  };
}

/** The other end of a port's cable. */
interface SwitchPort {
  readonly lid: number;
  readonly port: number;
}

function oneHop(from: MadPort, attribute: number): Buffer {
  const datagram = request(SUBNET, attribute, 0);
  // One hop, out of this port.
  datagram[7] = 1;
  datagram.writeUInt16BE(PERMISSIVE_LID, 32);
  datagram.writeUInt16BE(PERMISSIVE_LID, 34);
  datagram[INITIAL_PATH + 1] = from.port;
  return ask(from, SUBNET, PERMISSIVE_LID, datagram).subarray(DATA);
}

/** The switch, and its port, to which a port is connected. @throws UnavailableError if it is no switch */
export function switchPort(from: MadPort): SwitchPort {
  const node = oneHop(from, NODE_INFO);
  if (node[2] !== SWITCH) {
    throw new UnavailableError(`${from.adapter}/${from.port} is not connected to a switch`);
  }
  return { lid: oneHop(from, PORT_INFO).readUInt16BE(16), port: node[36] };
}
