/** Buffers between a PE and the recorder: what is filled arrives once and in order, or is counted as dropped. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bellMemory,
  DOORBELL,
  SlabReader,
  SlabWriter,
  slabMemory,
} from '../../../src/sim/instrument/slab.ts';

const POLICY = { bufferFree: 15, disableOutput: false, onOverflow: 'drop' } as const;
const HEADER = 4096;

function slab(size: number, together: number, policy: Partial<typeof POLICY> = {}) {
  const memory = slabMemory(size, together);
  const bell = bellMemory(1);
  const writer = new SlabWriter(memory, bell, { ...POLICY, ...policy });
  const reader = new SlabReader(memory);
  const rung = () => Atomics.load(new Int32Array(bell), DOORBELL);
  return { memory, writer, reader, rung };
}

/** Writes a row of `words` words that all are `value`; false if it was dropped. */
function put({ writer }: ReturnType<typeof slab>, words: number, value: number): boolean {
  if (!writer.ensure(words)) return false;
  writer.i32.fill(value, writer.at, writer.at + words);
  writer.at += words;
  return true;
}

function take({ reader }: ReturnType<typeof slab>, partial: boolean): number[] {
  const words: number[] = [];
  reader.drain(partial, (bytes) => {
    words.push(...new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4));
  });
  return words;
}

describe('buffers between a PE and the recorder', () => {
  it('are small, many, and together three times the size that the user gave', () => {
    const many = slab(8_000_000, 0);
    expect(many.writer.capacity * 4).toBe(262_144);
    expect(many.memory.byteLength - HEADER).toBeGreaterThanOrEqual(24_000_000);
    expect(many.memory.byteLength - HEADER).toBeLessThan(24_000_000 + 262_144);
    for (const [size, together] of [
      [4096, 0],
      [4096, 1e6],
      [1e6, Infinity],
      [1e9, 0],
    ]) {
      const { memory, writer } = slab(size, together);
      expect(writer.capacity * 4).toBeGreaterThanOrEqual(Math.min(size, together));
      expect(memory.byteLength - HEADER).toBeGreaterThanOrEqual(3 * size);
      expect(memory.byteLength - HEADER).toBeLessThan(3 * size + 100 * 4096);
    }
  });

  it('are filled again from the one that was emptied last', () => {
    const one = slab(8_000_000, 0);
    const touched = new Set<number>();
    const { capacity } = one.writer;
    for (let k = 0; k < 200; k++) {
      expect(put(one, capacity, k)).toBe(true);
      touched.add(one.writer.at);
      let bytes = 0;
      one.reader.drain(false, (rows) => (bytes += rows.length));
      expect(bytes).toBe(k === 0 ? 0 : 4 * capacity);
    }
    expect(touched.size).toBe(2);
    expect(one.rung()).toBeLessThan(200 / 7);
  });

  it('pass on all rows in order, whoever is faster, and count those dropped', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 700 }) },
      { weight: 1, arbitrary: fc.constantFrom('drain', 'partial', 'gvt') },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(4096, 9000, 300_000),
        fc.array(step, { maxLength: 600, size: 'max' }),
        (size, steps) => {
          const one = slab(size, 0);
          const expected: number[] = [];
          const found: number[] = [];
          let value = 0;
          let dropped = 0;
          for (const s of steps) {
            if (s === 'gvt') one.writer.atGvt();
            else if (typeof s === 'string') found.push(...take(one, s === 'partial'));
            else if (put(one, s, ++value)) for (let k = 0; k < s; k++) expected.push(value);
            else dropped++;
          }
          one.writer.end();
          found.push(...take(one, false));
          expect(found.length).toBe(expected.length);
          expect(found.findIndex((word, k) => word !== expected[k])).toBe(-1);
          expect(one.writer.totals().droppedRecords).toBe(dropped);
          expect(one.reader.totals().bytes).toBe(4 * expected.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('drop what comes while all are full, and go on when one has been emptied', () => {
    const one = slab(4096, 0);
    for (let k = 0; k < 3; k++) expect(put(one, 1024, k)).toBe(true);
    expect(put(one, 10, 9)).toBe(false);
    expect(put(one, 20, 9)).toBe(false);
    expect(one.writer.totals()).toMatchObject({ droppedRecords: 2, droppedBytes: 120 });
    expect(take(one, false)).toHaveLength(3 * 1024);
    expect(put(one, 10, 4)).toBe(true);
    expect(put(one, 1025, 5)).toBe(false);
    one.writer.end();
    expect(take(one, false)).toEqual(new Array(10).fill(4));
  });
});
