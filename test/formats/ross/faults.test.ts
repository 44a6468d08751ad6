/** Damaged files: what is before the damage is delivered, the rest is one clear error, and nothing is invented. */
import * as fc from 'fast-check';
import {
  bytesSource,
  encodedBytes,
  encodeRows,
  identify,
  identifyOrFail,
  ROSS,
  type RossLayout,
  writeEvent24At,
} from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { readBytes } from './support/read.ts';
import { ourReadme, rossReadme } from './support/readme.ts';
import { type Row, rowsOf } from './support/rows.ts';

const point = (k: number, pe: number): Row[] => {
  const common = { mode: 1, real: k + 0.5, virtual: k, gvt: k } as const;
  const counters = { events_processed: 100 + k, events_rolled_back: 10, efficiency: 88.75 };
  return [
    { ...common, kind: 0, values: { pe_id: pe, ...counters } },
    { ...common, kind: 1, values: { pe_id: pe, kp_id: 0, ...counters } },
    { ...common, kind: 2, values: { pe_id: pe, kp_id: 0, lp_id: pe, ...counters } },
  ];
};

function encode(layout: RossLayout, rows: readonly Row[]): Uint8Array {
  const words = rowsOf(rows);
  const out = new Uint8Array(encodedBytes(layout, words, 0, words.length));
  encodeRows(layout, words, 0, words.length, out, 0);
  return out;
}

const points = [0, 1, 2, 3, 4, 5].flatMap((k) => [...point(k, 0), ...point(k, 1)]);

function events(count: number): Uint8Array {
  const bytes = new Uint8Array(count * 28);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < count; k++) {
    const at = writeEvent24At(view, k * 28, k % 5, k % 7, k, k + 1.25, k / 8 + 3, 4);
    view.setUint32(at, 0xdeadbeef);
  }
  return bytes;
}

const README = ourReadme({ kpsPerPe: 1, lpsPerPe: [1, 1], detailed: true, rt: false });
const BESIDE = { 'a-README.txt': README };

/** Files, and a byte in the middle at which a record begins. */
const FILES = [
  ['framed, v7', 'a-gvt.bin', encode('ross-7', points), {}, 256],
  ['framed, v8.1', 'a-gvt.bin', encode('ross-8.1', points), {}, 268],
  ['events', 'a-evtrace.bin', events(30), {}, 364],
  ['2017', 'a-gvt.bin', encode('ross-2017', points), BESIDE, 372],
] as const;

it('events behind the first in the other byte order do not turn it', () => {
  const [first, rest] = [events(1), events(30)];
  // In words of 4 bytes, as another machine writes them.
  for (let at = 0; at < rest.length; at += 4) rest.subarray(at, at + 4).reverse();
  const bytes = Buffer.concat([first, rest]);
  const whole = readBytes('a-evtrace.bin', first);
  const { rows } = readBytes('a-evtrace.bin', bytes);
  expect(whole.rows).toHaveLength(1);
  expect(rows.slice(0, 1)).toEqual(whole.rows);
});

describe.each(FILES)('%s', (_name, name, bytes, beside, middle) => {
  const whole = readBytes(name, bytes, {}, beside);

  it('is whole', () => {
    expect(whole.fault).toBe(null);
    expect(whole.rows.length).toBeGreaterThan(20);
  });

  it('cut at any byte: whole records, then an error with file, place and mend', () => {
    let ends = 0;
    for (let length = 1; length < bytes.length; length++) {
      const { rows, fault } = readBytes(name, bytes.subarray(0, length), {}, beside);
      expect(rows).toEqual(whole.rows.slice(0, rows.length));
      if (fault === null) ends++;
      if (fault === null) continue;
      expect(fault.message).toMatch(/^a-\w+\.bin: byte \d+: .*; .*--salvage/);
      expect(fault.damage.offset).toBeLessThanOrEqual(length);
      // At most one record of what there was is missing.
      expect(length - fault.damage.offset).toBeLessThan(160);
    }
    // Without an error only between records.
    expect(ends).toBeLessThan(whole.rows.length);
  });

  it('with flipped bits: only format errors, never more records, what is before them as it was', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 0, max: 7 }),
        fc.boolean(),
        (at, bit, salvage) => {
          const bad = bytes.slice();
          bad[at] ^= 1 << bit;
          const { rows, fault, skipped } = readBytes(name, bad, { salvage }, beside);
          if (salvage) expect(fault).toBe(null);
          else expect(skipped).toEqual([]);
          expect(rows.length).toBeLessThanOrEqual(whole.rows.length + 2);
          const end = fault?.damage.offset ?? bytes.length;
          expect(end).toBeGreaterThanOrEqual(at - 160);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('salvaged: goes on behind a destroyed stretch and says what was passed over', () => {
    const bad = bytes.slice();
    bad.fill(0xff, middle, middle + 40);
    const strict = readBytes(name, bad, {}, beside);
    expect(strict.fault).not.toBe(null);
    const { rows, fault, skipped } = readBytes(name, bad, { salvage: true }, beside);
    expect(fault).toBe(null);
    expect(skipped.length).toBe(1);
    expect(skipped[0].offset).toBe(strict.fault?.damage.offset);
    expect(skipped[0].skipped).toBeGreaterThanOrEqual(30);
    expect(skipped[0].skipped).toBeLessThan(260);
    expect(rows[rows.length - 1]).toEqual(whole.rows[whole.rows.length - 1]);
    for (const row of rows) expect(whole.rows).toContainEqual(row);
  });

  it('filled with noise from some byte on: never a crash', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 400 }),
        fc.nat(bytes.length),
        fc.boolean(),
        (noise, from, salvage) => {
          const bad = new Uint8Array(from + noise.length);
          bad.set(bytes.subarray(0, from));
          bad.set(noise, from);
          readBytes(name, bad, { salvage, bufferBytes: 128 }, beside);
          ROSS.open(bytesSource(name, bad, beside)).info();
        },
      ),
      { numRuns: 200 },
    );
  });
});

it('a trace of 2017 that is cut in a record is not one record with all the rest as bytes of its model', () => {
  const bytes = new Uint8Array(20 * 40);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 20; k++) {
    view.setBigUint64(k * 40, BigInt(k % 3), true);
    view.setBigUint64(k * 40 + 8, BigInt(k % 4), true);
    view.setFloat64(k * 40 + 16, k + Math.SQRT2, true);
    view.setFloat64(k * 40 + 24, k + Math.LN2, true);
    view.setFloat64(k * 40 + 32, 10 + k / 7, true);
  }
  const beside = { 'a-README.txt': rossReadme({ 'engine-stats': '0' }, { lpsPerPe: [4] }) };
  const whole = readBytes('a-evtrace.bin', bytes, {}, beside);
  expect(whole.rows).toHaveLength(20);
  for (let length = 4 * 40; length < bytes.length; length++) {
    const { rows, fault } = readBytes('a-evtrace.bin', bytes.subarray(0, length), {}, beside);
    expect(rows).toEqual(whole.rows.slice(0, Math.floor(length / 40)));
    expect(fault === null).toBe(length % 40 === 0);
  }
});

it('a size of 4 GB is not believed', () => {
  const bytes = events(10);
  new DataView(bytes.buffer).setUint32(5 * 28 + 20, 0xfffffff0, true);
  const { rows, fault } = readBytes('a-evtrace.bin', bytes);
  expect(rows).toHaveLength(5);
  expect(fault?.message).toMatch(
    /byte 140: expected an event: 4294967280 bytes of the model are said to follow; 116 are left/,
  );
});

it('an empty file of a known name has no records; any other empty file is of no kind', () => {
  expect(readBytes('a-model.bin', new Uint8Array()).rows).toEqual([]);
  expect(() => identifyOrFail(bytesSource('x', new Uint8Array()))).toThrow(/x: the file is empty/);
});

it('what is no file of ROSS is not taken for one', () => {
  const text = new TextEncoder().encode('{"name": "x", "values": [1, 2, 3]}\n'.repeat(50));
  expect(identify(bytesSource('notes.json', text))).toBe(null);
  expect(identify(bytesSource('zeros', new Uint8Array(4800)))).toBe(null);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 2000 }), (noise) => {
      const found = identify(bytesSource('noise', noise));
      expect(found?.detection.confidence ?? 0).toBeLessThan(0.9);
    }),
    { numRuns: 100 },
  );
});

it('some records amid bytes of anything are no sign of ROSS, unless a name speaks for it', () => {
  const bytes = new Uint8Array(40_000);
  for (let k = 0, state = 1; k < bytes.length; k++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[k] = state >>> 24;
  }
  bytes.set(events(41));
  const sure = (name: string) => identify(bytesSource(name, bytes))?.detection.confidence ?? 0;
  expect(sure('compiled')).toBeLessThan(0.5);
  expect(sure('a-evtrace.bin')).toBeGreaterThan(0.5);
});

it('a file of 2017 without its README.txt is known where it can be', () => {
  const rows = points.filter(({ kind }) => kind === 0);
  const { rows: got, fault } = readBytes('loose', encode('ross-2017', rows));
  expect(fault).toBe(null);
  expect(got.map((row) => row.events_processed)).toEqual(
    rows.map(({ values }) => values.events_processed),
  );
});
