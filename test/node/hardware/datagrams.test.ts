/** Types that ask ports by datagram: what is sent, and the records worked out from answers made by hand. */
import { describe, expect, it } from 'vitest';
import { extendedCounters, type MadPort, switchPort } from '../../../dist/node/hardware/mad.js';
import { collect, machine, missing } from './support.ts';

const ADAPTER = 'sys/class/infiniband/mlx4_0/ports';

/** An answer: header, then values of 64 bits from `at` on. */
function answer(
  managementClass: number,
  attribute: number,
  bytes: Readonly<Record<number, number>> = {},
  values: readonly bigint[] = [],
  at = 72,
  length = 256,
): Buffer {
  const datagram = Buffer.alloc(length);
  datagram.set([1, managementClass, 1, 0x81]);
  datagram.writeUInt16BE(attribute, 16);
  for (const [where, byte] of Object.entries(bytes)) datagram[Number(where)] = byte;
  for (const [k, value] of values.entries()) datagram.writeBigUInt64BE(value, at + 8 * k);
  return datagram;
}

const line = (lid: number, attribute: number, datagram: Buffer) =>
  `${lid.toString(16)} ${attribute.toString(16)} ${datagram.toString('hex')}\n`;

/** Port 1 of this machine's adapter, LID 18: 2^64 - 1 words sent, 2^32 + 2 received. */
const OWN = answer(4, 0x1d, { 65: 1, 67: 7 }, [
  0xffffffffffffffffn,
  4294967298n,
  3n,
  4n,
  5n,
  6n,
  7n,
  8n,
]);
/** A switch with LID 1234, whose port 5 our cable goes to. */
const NODE = answer(0x81, 0x11, { 66: 2, 100: 5 });
const PORT = answer(0x81, 0x15, { 80: 0x04, 81: 0xd2 });
const SWITCH = answer(4, 0x1d, { 65: 5 }, [100n, 200n, 10n, 20n, 0n, 0n, 0n, 0n]);

const ports = (mad: string, more: Readonly<Record<string, string>> = {}) =>
  machine({
    files: {
      [`${ADAPTER}/1/state`]: '4: ACTIVE\n',
      [`${ADAPTER}/1/lid`]: '0x12\n',
      [`${ADAPTER}/2/state`]: '1: DOWN\n',
      [`${ADAPTER}/2/lid`]: '0x0\n',
      'mad/mlx4_0.1': mad,
      ...more,
    },
  });

/** A port that keeps what is sent. */
function listening(answers: readonly Buffer[]): { port: MadPort; sent: [number, Buffer][] } {
  const sent: [number, Buffer][] = [];
  const left = [...answers];
  const port: MadPort = {
    adapter: 'mlx4_0',
    port: 2,
    lid: 18,
    exchange: (_, lid, datagram) => {
      sent.push([lid, Buffer.from(datagram)]);
      return left.shift() ?? Buffer.alloc(256);
    },
    close: () => {},
  };
  return { port, sent };
}

describe('ib_ext', () => {
  it('archives the counters of each active port, 64 bits exactly', () => {
    const { records, failures } = collect(ports(line(0x12, 0x1d, OWN)), ['ib_ext']);
    expect(failures).toEqual([]);
    expect(records).toEqual(['ib_ext mlx4_0/1 1 7 18446744073709551615 4294967298 3 4 5 6 7 8']);
  });

  it('asks with Get(PortCountersExtended) for its own port', () => {
    const { port, sent } = listening([OWN]);
    extendedCounters(port, 18, 1);
    const [[lid, datagram]] = sent;
    expect(lid).toBe(18);
    expect(datagram.length).toBe(256);
    expect([...datagram.subarray(0, 4)]).toEqual([1, 4, 1, 1]);
    expect(datagram.readUInt16BE(16)).toBe(0x1d);
    expect(datagram[65]).toBe(1);
    // Neither a Set (2), which resets counters, nor any other byte.
    expect([...datagram.subarray(24)].filter((byte) => byte !== 0)).toEqual([1]);
  });

  it('says what went wrong', () => {
    const refused = Buffer.from(OWN);
    refused.writeUInt16BE(0x0c, 4);
    expect(missing(ports(line(0x12, 0x1d, refused)), 'ib_ext')).toBe(
      'mlx4_0/1: attribute 29 refused with status 12',
    );
    expect(missing(ports(line(0x12, 0x1d, NODE)), 'ib_ext')).toContain(
      'belongs to another request',
    );
    expect(missing(ports(line(0x13, 0x1d, OWN)), 'ib_ext')).toContain('no answer from LID 18');
    expect(missing(ports('12 1d xyz'), 'ib_ext')).toContain('mad/mlx4_0.1, line 1');
    expect(missing(machine({}), 'ib_ext')).toBe('no active port in /sys/class/infiniband');
  });
});

describe('ib_sw', () => {
  const mad = line(0xffff, 0x11, NODE) + line(0xffff, 0x15, PORT) + line(1234, 0x1d, SWITCH);

  it('is what the switch sends and receives, the other way round', () => {
    // The switch sent 100 words in 10 packets, and received 200 in 20.
    expect(collect(ports(mad), ['ib_sw']).records).toEqual(['ib_sw mlx4_0/1 100 10 200 20']);
  });

  it('finds the switch by a directed route of one hop, out of its own port', () => {
    const { port, sent } = listening([NODE, PORT]);
    expect(switchPort(port)).toEqual({ lid: 1234, port: 5 });
    for (const [k, attribute] of [0x11, 0x15].entries()) {
      const [lid, datagram] = sent[k];
      expect(lid).toBe(0xffff);
      expect([...datagram.subarray(0, 8)]).toEqual([1, 0x81, 1, 1, 0, 0, 0, 1]);
      expect(datagram.readUInt16BE(16)).toBe(attribute);
      // Source and destination are by route alone; the route leaves through port 2.
      expect(datagram.readUInt32BE(32)).toBe(0xffffffff);
      expect([...datagram.subarray(128, 132)]).toEqual([0, 2, 0, 0]);
    }
  });

  it('takes no cable between two machines for a switch', () => {
    const host = answer(0x81, 0x11, { 66: 1, 100: 1 });
    expect(missing(ports(line(0xffff, 0x11, host)), 'ib_sw')).toBe(
      'mlx4_0/1 is not connected to a switch',
    );
  });
});

describe('opa', () => {
  const HFI = 'sys/class/infiniband/hfi1_0/ports/1';
  const values = Array.from({ length: 16 }, (_, k) => BigInt(k + 1));
  const data = answer(4, 0x42, { 64: 1 }, [2n ** 63n, ...values.slice(1)], 72, 2048);
  const tree = (mad: Buffer) =>
    machine({
      files: {
        [`${HFI}/state`]: '4: ACTIVE\n',
        [`${HFI}/lid`]: '0x3\n',
        'mad/hfi1_0.1': line(3, 0x42, mad),
      },
    });

  it('archives the data counters of a port', () => {
    expect(collect(tree(data), ['opa']).records).toEqual([
      'opa hfi1_0/1 9223372036854775808 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16',
    ]);
  });

  it('is for Omni-Path, as the InfiniBand types are not', () => {
    const root = tree(data);
    expect(missing(root, 'ib_ext')).toBe('no active port in /sys/class/infiniband');
    expect(missing(ports(line(0x12, 0x1d, OWN)), 'opa')).toBe(
      'no active port in /sys/class/infiniband',
    );
  });

  it('says where an answer is cut off', () => {
    expect(missing(tree(data.subarray(0, 150)), 'opa')).toContain('belongs to another request');
    expect(missing(tree(data.subarray(0, 256)), 'opa')).toBeNull();
  });
});

describe('a port that does not answer', () => {
  it('does not take the others with it', () => {
    const root = ports(line(0x12, 0x1d, OWN), {
      [`${ADAPTER}/2/state`]: '4: ACTIVE\n',
      [`${ADAPTER}/2/lid`]: '0x14\n',
      'mad/mlx4_0.2': line(0x15, 0x1d, OWN),
    });
    expect(collect(root, ['ib_ext']).records.length).toBe(1);
  });
});
