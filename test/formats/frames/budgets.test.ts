/** Damage that is made to cost: time and memory follow the size of the file. */
import { describe, expect, it } from 'vitest';
import { CrcIndex, MARK_BYTES } from '../../../src/formats/frames/crc-index.ts';
import { crc32 } from '../../../src/formats/frames/crc32.ts';
import { frameCrc } from '../../../src/formats/frames/encode.ts';
import { FrameDecoder, FrameEncoder } from '../../../src/formats/frames/index.ts';
import { FLAG_DICTIONARY, HEADER_BYTES } from '../../../src/formats/frames/layout.ts';
import { label, type Schema } from '../../../src/model/metric.ts';

const SCHEMA: Schema = { name: 'a', domain: 'pe', help: '', metrics: [label('which', '')] };
const frames = (...texts: readonly string[]) =>
  Buffer.concat(
    new FrameEncoder().encode({ schema: SCHEMA, rows: texts.length, columns: [texts] }),
  );

/** Heads alone, each of which claims the rest of the file. */
function falseHeads(count: number): Uint8Array {
  const bytes = new Uint8Array(count * HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += HEADER_BYTES) {
    view.setUint32(at, 0x46495254, true);
    view.setUint32(at + 4, bytes.length - at, true);
    view.setUint32(at + 28, at, true);
  }
  return bytes;
}

function read(bytes: Uint8Array, chunk = 1 << 20) {
  const errors: string[] = [];
  const decoder = new FrameDecoder({ onDamage: ({ what }) => errors.push(what) });
  const rows: unknown[] = [];
  const take = (batches: ReturnType<FrameDecoder['push']>) => {
    for (const one of batches) rows.push(...[...one.columns[0]].slice(0, one.rows));
  };
  for (let at = 0; at < bytes.length; at += chunk)
    take(decoder.push(bytes.subarray(at, at + chunk)));
  take(decoder.finish().batches);
  return { rows, errors };
}

describe('a checksum of any stretch', () => {
  it('is that of its bytes', () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, k) => (k * 7919) >>> 3);
    const base = 100;
    const index = new CrcIndex(base + 10);
    index.extend(bytes, base, base + bytes.length);
    for (const [from, to] of [
      [10, 10],
      [10, 11],
      [11, 4999],
      [10 + MARK_BYTES, 10 + 2 * MARK_BYTES],
      [1033, 1035],
      [500, 5000],
    ]) {
      const expected = crc32(bytes.subarray(from, to), 0x12345678);
      expect(index.of(bytes, base, base + from, base + to, 0x12345678)).toBe(expected);
    }
  });
});

describe('false frame heads', () => {
  it('hide no frame, in chunks of any size', () => {
    const good = [frames('x'), frames('y', 'z')];
    const bytes = Buffer.concat([good[0], falseHeads(200), good[1], falseHeads(3)]);
    for (const chunk of [1, 7, 1000, 1 << 20]) {
      expect(read(bytes, chunk).rows).toEqual(['x', 'y', 'z']);
    }
  });

  it('cost what their number does', () => {
    // Of the processor: others may have it meanwhile.
    const time = (count: number) => {
      const bytes = falseHeads(count);
      const times = [1, 2, 3].map(() => {
        const from = process.cpuUsage();
        expect(read(bytes).errors).toHaveLength(1);
        return process.cpuUsage(from).user;
      });
      return Math.min(...times);
    };
    time(2000);
    // Each to the end of the file would be 16 times.
    expect(time(40_000) / time(10_000)).toBeLessThan(12);
  });
});

/** The frames of `frames`, the dictionary's changed. */
function withFirst(first: number): Uint8Array {
  const bytes = frames('x');
  for (let at = 0; at < bytes.length; ) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
    const length = view.getUint32(4, true);
    if (view.getUint32(20, true) === FLAG_DICTIONARY) {
      const json = JSON.stringify({ column: 0, first, labels: ['x'] });
      const frame = new Uint8Array(HEADER_BYTES + Math.ceil(json.length / 8) * 8).fill(0x20);
      frame.set(bytes.subarray(at, at + HEADER_BYTES));
      frame.set(Buffer.from(json), HEADER_BYTES);
      const head = new DataView(frame.buffer);
      head.setUint32(4, frame.length, true);
      head.setUint32(28, frameCrc(frame), true);
      return Buffer.concat([bytes.subarray(0, at), frame, bytes.subarray(at + length)]);
    }
    at += length;
  }
  throw new Error('no dictionary');
}

describe('a dictionary', () => {
  it.each([4294967280, 1e15, 1000])(
    'that begins at label %d, of a small file, is refused',
    (first) => {
      const { rows, errors } = read(withFirst(first));
      expect(errors[0]).toBe(`the dictionary begins at label ${first}, and there are 0 before`);
      expect(rows).toEqual(['']);
    },
  );

  it('of which a frame is lost keeps the others’ labels', () => {
    const encoder = new FrameEncoder();
    const parts = ['a', 'b', 'c'].map((text) =>
      encoder.encode({ schema: SCHEMA, rows: 1, columns: [[text]] }),
    );
    const { rows, errors } = read(Buffer.concat([...parts[0], ...parts[1].slice(1), ...parts[2]]));
    expect(rows).toEqual(['a', '', 'c']);
    expect(errors).toHaveLength(1);
  });
});
