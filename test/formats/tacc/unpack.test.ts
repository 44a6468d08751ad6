/** Packed raw stats files of any size: unpacked beside the reader, piece by piece. */
import { randomBytes } from 'node:crypto';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bytesSource } from '../../../dist/formats/source.js';
import { blocksOf } from '../../../dist/formats/tacc/blocks.js';
import { unpacked } from '../../../dist/formats/tacc/unpack.js';

const MEGABYTE = 2 ** 20;
/** 6 MB that gzip makes no smaller: more packed pieces than are on their way at once. */
const NOISE = randomBytes(6 * MEGABYTE);

function gathered(pieces: Iterable<Uint8Array>, most = Number.POSITIVE_INFINITY) {
  const parts: Buffer[] = [];
  let fault = '';
  try {
    for (const piece of pieces) {
      parts.push(Buffer.from(piece));
      if (parts.length >= most) break;
    }
  } catch (error) {
    fault = (error as Error).message;
  }
  return { bytes: Buffer.concat(parts), fault };
}

describe('a packed file', () => {
  it('comes out as it went in, through slots that go round', () => {
    const packed = gzipSync(NOISE);
    const { bytes, fault } = gathered(unpacked(bytesSource('a.gz', packed)));
    expect([fault, bytes.equals(NOISE)]).toEqual(['', true]);
  });

  it('of several members is one', () => {
    const packed = Buffer.concat([gzipSync('one, '), gzipSync('two')]);
    expect(gathered(unpacked(bytesSource('a.gz', packed))).bytes.toString()).toBe('one, two');
  });

  it('may be a thousand times as large as it looks', () => {
    const packed = gzipSync(Buffer.alloc(80 * MEGABYTE, 'x\n'));
    expect(packed.length).toBeLessThan(MEGABYTE);
    let length = 0;
    for (const block of blocksOf(bytesSource('a.gz', packed))) length += block.length;
    expect(length).toBe(80 * MEGABYTE);
  });

  it('that is cut gives what is there, then says so', () => {
    const packed = gzipSync(NOISE).subarray(0, 4 * MEGABYTE);
    const { bytes, fault } = gathered(unpacked(bytesSource('a.gz', packed)));
    expect(fault).toBe('a.gz: damaged gzip (unexpected end of file); what came before was read');
    expect(bytes.length).toBeGreaterThan(3.9 * MEGABYTE);
    expect(NOISE.subarray(0, bytes.length).equals(bytes)).toBe(true);
  });

  it('with a wrong byte gives what comes before', () => {
    const text = Buffer.from(NOISE.toString('hex'));
    const packed = gzipSync(text);
    packed.fill(0xff, 3 * MEGABYTE, 3 * MEGABYTE + 64);
    const { bytes, fault } = gathered(unpacked(bytesSource('a.gz', packed)));
    expect(fault).toMatch(/^a\.gz: damaged gzip \(.+\); what came before was read$/);
    expect(bytes.length).toBeGreaterThan(MEGABYTE);
  });

  it('that is small gives every byte before a wrong one', () => {
    const text = NOISE.subarray(0, 3000).toString('hex');
    const packed = gzipSync(text);
    const at = packed.length >> 1;
    const whole = gunzipSync(packed.subarray(0, at), { finishFlush: constants.Z_SYNC_FLUSH });
    expect(whole.length).toBeGreaterThan(1000);
    // The bits of the byte itself may still give some bytes, then the checksum is another.
    packed.fill(0xff, at);
    const { bytes, fault } = gathered(blocksOf(bytesSource('a.gz', packed)));
    expect(fault).toMatch(/^a\.gz: damaged gzip \(.+\); what came before was read$/);
    expect(bytes.subarray(0, whole.length).equals(whole)).toBe(true);
  });

  it('need not be read to its end', () => {
    const { bytes } = gathered(unpacked(bytesSource('a.gz', gzipSync(NOISE))), 1);
    expect(bytes.length).toBeGreaterThan(0);
  });
});
