/** Files of 2017 whose LPs add different numbers of bytes to their records: told, guessed where it is sure, or refused. */
import {
  bytesSource,
  checkGiven,
  encodedBytes,
  encodeRows,
  ROSS,
  type ScanOptions,
  scanRecords,
} from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { readingOf } from './support/damage.ts';
import { readBytes } from './support/read.ts';
import { ourReadme, rossReadme } from './support/readme.ts';
import { type Row, rowsOf } from './support/rows.ts';

/** Samples of six LPs at `points` GVTs: `sizes` bytes, LP after LP, over and over. */
function samples(points: number, sizes: readonly number[]): Uint8Array {
  const rows: Row[] = Array.from({ length: 6 * points }, (_, k) => {
    const lp = k % 6;
    const point = Math.floor(k / 6);
    const payload = new Uint8Array(sizes[lp % sizes.length]).fill(0xa0 + lp);
    const values = { pe_id: lp < 3 ? 0 : 1, kp_id: 0, lp_id: lp };
    return { kind: 3, mode: 1, real: 100 + k / 8, virtual: point, gvt: point, values, payload };
  });
  const words = rowsOf(rows);
  const bytes = new Uint8Array(encodedBytes('ross-2017', words, 0, words.length));
  encodeRows('ross-2017', words, 0, words.length, bytes, 0);
  return bytes;
}

const NAME = 'a-model.bin';
const MIXED = samples(4, [24, 8]);
const ROSS_TEXT = { 'a-README.txt': rossReadme({ 'engine-stats': '0', 'model-stats': '1' }) };
const given = (json: unknown): ScanOptions => ({ given: checkGiven(json, 'x.json') });

const lpsOf = (rows: readonly Readonly<Record<string, unknown>>[]) => rows.map((row) => row.lp_id);
const ALL = Array.from({ length: 24 }, (_, k) => k % 6);

const field = (name: string, type: string, offset: number) => ({ name, type, offset });

describe('two types of LP, 24 and 8 bytes', () => {
  it('as we write it: the README says which LP has which, and what the bytes are', () => {
    const text = ourReadme({
      lpTypes: 'a b,c',
      samples: [
        { name: 'big one', bytes: 24, fields: [field('n', 'u32', 0), field('x', 'f64', 8)] },
        { name: 'c', bytes: 8, fields: [field('b', 'u8', 7)] },
      ],
    }).replace('LP_TYPES=a b,c', 'LP_TYPES=big%20one,c');
    expect(text).toContain(
      '\nMODEL_SAMPLE=big%20one 24 n:u32@0 x:f64@8\nMODEL_SAMPLE=c 8 b:u8@7\n',
    );
    const { rows, fault } = readBytes(NAME, MIXED, {}, { 'a-README.txt': text });
    expect(fault).toBe(null);
    expect(lpsOf(rows)).toEqual(ALL);
    expect(rows.map((row) => row.model_size)).toEqual(ALL.map((lp) => (lp % 2 === 0 ? 24 : 8)));
    const decoded: unknown[] = [];
    scanRecords(ROSS, bytesSource(NAME, MIXED, { 'a-README.txt': text }), {
      records(block) {
        for (let k = 0; k < 4; k++) decoded.push([block.kind(k).payload, block.payload(k)?.[0]]);
        return false;
      },
    });
    expect(decoded).toEqual([
      [['n', 'x'], 0xa0a0a0a0],
      [['b'], 0xa1],
      [['n', 'x'], 0xa2a2a2a2],
      [['b'], 0xa3],
    ]);
  });

  it('of ROSS: refused, not read as the half of it that fits one number of bytes', () => {
    const { rows, fault } = readBytes(NAME, MIXED, {}, ROSS_TEXT);
    expect(rows).toEqual([]);
    expect(fault?.message).toMatch(
      /^a-model\.bin: its LPs add different numbers of bytes .*; read --layout=FILE decides: \{"bytes": 4\}/,
    );
    const info = ROSS.open(bytesSource(NAME, MIXED, ROSS_TEXT)).info();
    expect(info).toMatchObject({ records: {}, damaged: true, suspect: [{ where: 'file' }] });
    expect(ROSS.open(bytesSource(NAME, MIXED, ROSS_TEXT)).parts).toEqual([]);
  });

  it('of ROSS: read with what the user says, by a line or by lp-mapping.txt', () => {
    const types = { big: 24, small: [{ name: 'all', type: 'u8', count: 8 }] };
    const line = readBytes(NAME, MIXED, given({ lps: 'big,small', types }), ROSS_TEXT);
    expect([line.fault, lpsOf(line.rows)]).toEqual([null, ALL]);
    const mapping = ALL.slice(0, 6).map(
      (lp) => `${lp < 3 ? 0 : 1},0,${lp},${lp % 2 ? 'small' : 'big'}`,
    );
    const beside = { ...ROSS_TEXT, 'lp-mapping.txt': `PE,KP,LP,LP_type\n${mapping.join('\n')}\n` };
    expect(lpsOf(readBytes(NAME, MIXED, given({ types }), beside).rows)).toEqual(ALL);
    expect(() => readBytes(NAME, MIXED, given({ types }), ROSS_TEXT)).toThrow(
      /the type of each LP is not known; add a line such as "lps"/,
    );
  });

  it('told wrongly: an error at the record that cannot be, all before it as they are', () => {
    const types = { big: 24, small: 9 };
    const { rows, fault } = readBytes(NAME, MIXED, given({ lps: 'big,small', types }), ROSS_TEXT);
    expect(lpsOf(rows)).toEqual([0, 1]);
    expect(fault?.message).toMatch(/byte 89: /);
  });
});

describe('one number of bytes that nobody tells', () => {
  it.each([0, 1, 4, 7, 40])('%i: found by four records', (size) => {
    const { rows, fault } = readBytes(
      NAME,
      samples(1, [size]).subarray(0, 4 * (28 + size)),
      {},
      ROSS_TEXT,
    );
    expect(fault).toBe(null);
    expect(rows.map((row) => [row.lp_id, row.model_size])).toEqual(
      [0, 1, 2, 3].map((lp) => [lp, size]),
    );
  });

  it('one record, whole or with some bytes: refused; read where the number is told', () => {
    const one = samples(1, [4]);
    for (const length of [28, 30, 32, 37, 59]) {
      const bytes = one.subarray(0, length);
      expect(readingOf(NAME, bytes, ROSS_TEXT).lines).toEqual([]);
      expect(readingOf(NAME, bytes, ROSS_TEXT).fault).toMatch(/nothing says how many bytes/);
      const told = readBytes(NAME, bytes, given({ bytes: 4 }), ROSS_TEXT);
      expect(told.rows).toHaveLength(length < 32 ? 0 : 1);
      expect(told.fault === null).toBe(length === 32);
    }
  });

  it('a damaged record of four is no layout of half as many', () => {
    const bytes = samples(1, [4]).subarray(0, 4 * 32);
    for (let bit = 0; bit < 8 * bytes.length; bit += 3) {
      const bad = bytes.slice();
      bad[bit >> 3] ^= 1 << (bit & 7);
      const { lines, fault } = readingOf(NAME, bad, ROSS_TEXT);
      if (fault === null) expect(lines).toHaveLength(4);
    }
  });

  it('two records that damage has moved apart are no layout of their distance', () => {
    const bytes = samples(1, [4]);
    const moved = new Uint8Array(123);
    moved.set(bytes.subarray(0, 42));
    moved.set(bytes.subarray(32, 64), 49);
    expect(readingOf(NAME, moved, ROSS_TEXT).lines).toEqual([]);
    expect(readingOf(NAME, moved, ROSS_TEXT).fault).toMatch(/nothing says how many bytes/);
  });

  it('damage that leaves every second record is no layout of twice as many bytes', () => {
    const bytes = samples(10, [4]);
    const whole = readingOf(NAME, bytes, ROSS_TEXT).lines;
    for (let k = 13; k < 60; k += 2) bytes.fill(0xff, 32 * k, 32 * (k + 1));
    const { lines, fault } = readingOf(NAME, bytes, ROSS_TEXT);
    expect(whole).toHaveLength(60);
    expect(lines).toEqual(whole.slice(0, lines.length));
    expect(fault).not.toBe(null);
  });
});

it.each([
  [{ types: { a: -1 } }, /type a: must be a number of bytes/],
  [
    { types: { a: { bytes: 2, fields: [{ name: 'x', type: 'u32' }] } } },
    /its fields take 4 bytes, more than the 2/,
  ],
  [{ byte: 4 }, /unknown key byte; known: layout, bytes, lps, types/],
  [{ bytes: 4, types: {} }, /give one/],
  [7, /must be a list of fields/],
  [{ types: [] }, /types: must be an object/],
])('%j is refused', (json, why) => {
  expect(() => checkGiven(json, 'x.json')).toThrow(why);
});
