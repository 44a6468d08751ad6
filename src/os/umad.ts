/**
 * Sends management datagrams through the kernel's umad device and waits for their answers. If no answer comes, the kernel gives
 * the request back with a time-out as its status, so a read never waits forever. No fabric was available:
 * tests check what is written, not what a fabric answers. Source: user_mad in the kernel's documentation of InfiniBand.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ioctl } from './ioctl.ts';

/** _IOWR(0x1b, 1, 28 bytes), _IO(0x1b, 3). */
const REGISTER_AGENT = 0xc01c1b01;
const ENABLE_PKEY = 0x1b03;
const REQUEST_BYTES = 28;
/** `struct ib_user_mad_hdr` with its partition key. */
const HEADER_BYTES = 64;
const LONGEST_BYTES = 2048;
const WELL_KNOWN_QKEY = 0x80010000;
const TIMEOUT_MS = 100;
const RETRIES = 2;

/** The agent that asks, and the class of its questions. */
export interface UmadAgent {
  /** 0: subnet management; 1: everything else. */
  readonly queuePair: 0 | 1;
  readonly managementClass: number;
  readonly classVersion: number;
}

export class Umad {
  private readonly path: string;
  private readonly file: number;
  private readonly agents = new Map<string, number>();
  private readonly buffer = Buffer.alloc(HEADER_BYTES + LONGEST_BYTES);

  /** @throws Error if open(2) fails */
  constructor(path: string) {
    this.path = path;
    this.file = openSync(path, 'r+');
    // All kernels since 2.6.26 have the longer header, with the partition key.
    ioctl(this.file, ENABLE_PKEY, null);
  }

  private agent({ queuePair, managementClass, classVersion }: UmadAgent): number {
    const key = `${queuePair} ${managementClass} ${classVersion}`;
    const known = this.agents.get(key);
    if (known !== undefined) return known;
    const request = Buffer.alloc(REQUEST_BYTES);
    request[20] = queuePair;
    request[21] = managementClass;
    request[22] = classVersion;
    if (!ioctl(this.file, REGISTER_AGENT, request)) {
      throw new Error(`${this.path}: no agent for management class ${managementClass}`);
    }
    const id = request.readUInt32LE(0);
    this.agents.set(key, id);
    return id;
  }

  /** The answer to a datagram sent to `lid`. @throws Error */
  exchange(agent: UmadAgent, lid: number, datagram: Uint8Array): Uint8Array {
    const buffer = this.buffer.fill(0);
    buffer.writeUInt32LE(this.agent(agent), 0);
    buffer.writeUInt32LE(TIMEOUT_MS, 8);
    buffer.writeUInt32LE(RETRIES, 12);
    buffer.writeUInt32BE(agent.queuePair, 20);
    buffer.writeUInt32BE(agent.queuePair === 0 ? 0 : WELL_KNOWN_QKEY, 24);
    buffer.writeUInt16BE(lid, 28);
    buffer.set(datagram, HEADER_BYTES);
    // Bytes 8 to 15 of a datagram are its transaction id; the kernel reserves the upper four.
    const transaction = buffer.readUInt32BE(HEADER_BYTES + 12);
    writeSync(this.file, buffer, 0, HEADER_BYTES + datagram.length);
    for (;;) {
      const got = readSync(this.file, buffer, 0, buffer.length, null);
      if (buffer.readUInt32BE(HEADER_BYTES + 12) !== transaction) continue;
      const status = buffer.readUInt32LE(4);
      if (status !== 0) throw new Error(`${this.path}: no answer from LID ${lid} (${status})`);
      return Uint8Array.from(buffer.subarray(HEADER_BYTES, got));
    }
  }

  close(): void {
    closeSync(this.file);
  }
}
