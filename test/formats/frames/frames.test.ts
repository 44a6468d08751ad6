/** Frames: what goes in comes out, in chunks of any size, and damage is found and named. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { FRAMES, openFile } from 'triscope/formats';
import { afterAll, describe, expect, it } from 'vitest';
import { crc32, crc32ByTable } from '../../../src/formats/frames/crc32.ts';
import { FrameDecoder, FrameEncoder, type FrameError } from '../../../src/formats/frames/index.ts';
import { toLittle } from '../../../src/formats/frames/layout.ts';
import type { Batch, Cell, Column, Metric, Schema } from '../../../src/model/metric.ts';
import { ROSS_PE } from '../../../src/model/schemas/ross.ts';

const folder = mkdtempSync(join(tmpdir(), 'frames-'));
afterAll(() => rmSync(folder, { recursive: true }));

const metric = (key: string, cell: Cell): Metric => ({
  key,
  cell,
  kind: 'gauge',
  behaviour: cell === 'label' ? 'label' : 'variable',
  form: 'total',
  unit: '',
  over: 'last',
  help: `a metric “${key}”`,
});

const schemaOf = (name: string, cells: readonly Cell[]): Schema => ({
  name,
  domain: 'device',
  help: 'made up',
  metrics: cells.map((cell, k) => metric(`m${k}_${cell}`, cell)),
});

const valuesOf = (cell: Cell, rows: number): fc.Arbitrary<Column> => {
  const size = { minLength: rows, maxLength: rows };
  switch (cell) {
    case 'u32':
      return fc.uint32Array(size);
    case 'i32':
      return fc.int32Array(size);
    case 'u64':
      return fc.bigUint64Array(size);
    case 'f32':
      return fc.float32Array(size);
    case 'f64':
      return fc.float64Array(size);
    case 'label':
      return fc.array(fc.oneof(fc.constantFrom('gvt', 'rt', ''), fc.string()), size);
  }
};

const CELLS = ['u32', 'i32', 'u64', 'f32', 'f64', 'label'] as const;
const SCHEMAS = [
  schemaOf('all', CELLS),
  schemaOf('labels', ['label', 'label']),
  schemaOf('odd', ['u32', 'f64', 'u32']),
  schemaOf('empty', []),
];

const batch: fc.Arbitrary<Batch> = fc
  .tuple(fc.constantFrom(...SCHEMAS), fc.nat(9))
  .chain(([schema, length]) =>
    fc
      .tuple(...schema.metrics.map(({ cell }) => valuesOf(cell, length)))
      .map((columns) => ({ schema, rows: length, columns })),
  );
const batches = fc.array(batch, { minLength: 1, maxLength: 6 });

const join_ = (frames: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => Buffer.concat(frames);

const encodeAll = (all: readonly Batch[], encoder = new FrameEncoder()) =>
  all.flatMap((one) => encoder.encode(one));

/** A batch without rows has no data frame. */
const withRows = (all: readonly Batch[]) => all.filter(({ rows }) => rows > 0);

function decodeAll(bytes: Uint8Array) {
  const damage: FrameError[] = [];
  const decoder = new FrameDecoder({ onDamage: (error) => damage.push(error) });
  const found = decoder.push(bytes);
  const { batches, cut } = decoder.finish();
  return { batches: [...found, ...batches], cut, damage, lost: decoder.lost };
}

describe('frames', () => {
  it('give back what went in', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const { batches, ...rest } = decodeAll(join_(encodeAll(all)));
        expect(batches).toEqual(withRows(all));
        expect(rest).toEqual({ cut: 0, damage: [], lost: 0 });
      }),
    );
  });

  it('may come in chunks of any size', () => {
    fc.assert(
      fc.property(batches, fc.array(fc.integer({ min: 1, max: 300 })), (all, sizes) => {
        const bytes = join_(encodeAll(all));
        const decoder = new FrameDecoder();
        const found: Batch[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          found.push(...decoder.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(found).toEqual(withRows(all));
        expect(decoder.finish()).toEqual({ batches: [], cut: 0 });
      }),
    );
  });

  it('deliver what is whole when the end is cut off at any byte', () => {
    const all = fc.sample(batches, { numRuns: 3, seed: 7 });
    for (const some of all) {
      const frames = encodeAll(some);
      const bytes = join_(frames);
      const ends = frames.map((_, k) => join_(frames.slice(0, k + 1)).length);
      for (let end = 0; end <= bytes.length; end++) {
        const whole = ends.filter((at) => at <= end).length;
        const { batches, cut, damage } = decodeAll(bytes.subarray(0, end));
        const expected = decodeAll(join_(frames.slice(0, whole))).batches;
        expect(batches).toEqual(expected);
        expect(cut).toBe(end - (ends[whole - 1] ?? 0));
        expect(damage).toEqual([]);
      }
    }
  });

  it('show every flipped bit, and go on behind the damage', () => {
    const rows = [1, 2, 3].map((k) => ({
      schema: SCHEMAS[0],
      rows: 2,
      columns: [
        Uint32Array.of(k, k),
        Int32Array.of(-k, k),
        BigUint64Array.of(2n ** 63n, BigInt(k)),
        Float32Array.of(k, Number.NaN),
        Float64Array.of(k / 3, Number.NaN),
        ['a', 'b'],
      ],
    }));
    const frames = encodeAll(rows);
    const bytes = join_(frames);
    expect(frames.length).toBe(5);
    const second = join_(frames.slice(0, 3)).length;
    for (let bit = 0; bit < frames[3].length * 8; bit++) {
      const at = second + (bit >> 3);
      bytes[at] ^= 1 << (bit & 7);
      const { batches, damage, lost } = decodeAll(bytes);
      bytes[at] ^= 1 << (bit & 7);
      expect(batches).toEqual([rows[0], rows[2]]);
      expect(damage.map(({ offset }) => offset)).toEqual([second]);
      expect(lost).toBe(1);
    }
  });

  it('are read to their end behind garbage', () => {
    fc.assert(
      fc.property(batches, fc.uint8Array({ minLength: 1, maxLength: 99 }), (all, garbage) => {
        const encoder = new FrameEncoder();
        const before = encodeAll(all, encoder);
        const after = [...encoder.definitions(), ...encodeAll(all, encoder)];
        const { batches, damage } = decodeAll(join_([...before, garbage, ...after]));
        expect(batches).toEqual([...withRows(all), ...withRows(all)]);
        expect(damage.length).toBe(1);
        expect(damage[0].offset).toBe(join_(before).length);
      }),
    );
  });

  it('throw what is wrong, with the place, after the batches before it', () => {
    const one = {
      schema: SCHEMAS[2],
      rows: 1,
      columns: [Uint32Array.of(1), Float64Array.of(2), Uint32Array.of(3)],
    };
    const bytes = join_(encodeAll([one, one]));
    bytes[bytes.length - 1] ^= 1;
    const decoder = new FrameDecoder({ file: 'extra.frames' });
    expect(decoder.push(bytes)).toEqual([one]);
    const at = bytes.length - 32 - 24;
    expect(() => decoder.push(new Uint8Array())).toThrow(
      `extra.frames: byte ${at}: the frame is damaged: its checksum is another`,
    );
    expect(() => decoder.finish()).toThrow('checksum');
  });

  it('count data frames that never came', () => {
    const one = { schema: SCHEMAS[1], rows: 1, columns: [['x'], ['y']] };
    const frames = encodeAll([one, one, one, one]);
    const kept = frames.filter((_, k) => k !== frames.length - 2 && k !== frames.length - 3);
    const { batches, lost } = decodeAll(join_(kept));
    expect([batches.length, lost]).toEqual([2, 2]);
  });

  it('can be joined late, with the definitions', () => {
    const encoder = new FrameEncoder();
    const row = (a: string) => ({ schema: SCHEMAS[1], rows: 1, columns: [[a], ['y']] });
    encoder.encode(row('before'));
    const late = [
      ...encoder.definitions(),
      ...encoder.encode(row('after')),
      ...encoder.encode(row('before')),
    ];
    const { batches, lost, damage } = decodeAll(join_(late));
    expect(batches.map(({ columns }) => columns[0])).toEqual([['after'], ['before']]);
    expect([lost, damage]).toEqual([0, []]);
  });

  it('tell missing definitions and labels, and keep the rows', () => {
    const one = { schema: SCHEMAS[1], rows: 1, columns: [['x'], ['y']] };
    const [schema, x, , data] = encodeAll([one]);
    const noSchema = decodeAll(data);
    expect(noSchema.batches).toEqual([]);
    expect(noSchema.damage[0].what).toBe('schema 1 was not defined before its data');
    const noLabel = decodeAll(join_([schema, x, data]));
    expect(noLabel.batches[0].columns).toEqual([['x'], ['']]);
    expect(noLabel.damage[0].what).toBe('label 0 of labels.m1_label: in no dictionary, so missing');
  });

  it('of a large batch are split', () => {
    const rows = 1_000_000;
    const large = {
      schema: SCHEMAS[2],
      rows,
      columns: [
        Uint32Array.from({ length: rows }, (_, k) => k),
        new Float64Array(rows).fill(Number.NaN),
        new Uint32Array(rows),
      ],
    };
    const frames = encodeAll([large]);
    expect(frames.length).toBeGreaterThan(3);
    const { batches } = decodeAll(join_(frames));
    expect(batches.reduce((sum, one) => sum + one.rows, 0)).toBe(rows);
    expect(batches.at(-1)?.columns[0].at(-1)).toBe(rows - 1);
  });

  it('refuse columns that are not as the schema says', () => {
    const encoder = new FrameEncoder();
    const schema = SCHEMAS[2];
    const columns = [Uint32Array.of(1), Float32Array.of(1), Uint32Array.of(1)];
    expect(() => encoder.encode({ schema, rows: 1, columns })).toThrow(
      'odd.m1_f64: the column must hold f64 values',
    );
    expect(() => encoder.encode({ schema, rows: 1, columns: [] })).toThrow('0 columns');
  });
});

describe('a file of frames', () => {
  const file = join(folder, 'extra.frames');
  const one: Batch = {
    schema: ROSS_PE,
    rows: 3,
    columns: ROSS_PE.metrics.map(({ cell }, k) => {
      if (cell === 'label') return ['gvt', 'rt', 'gvt'];
      return cell === 'f64'
        ? Float64Array.of(k, k, 0.5)
        : cell === 'f32'
          ? Float32Array.of(k, k, 0.5)
          : Uint32Array.of(k, k, 2 ** 32 - 1);
    }),
  };
  const frames = encodeAll([one, { ...one, rows: 0 }, one]);

  it('is its batches, and its schemas', () => {
    const schemas: Schema[] = [];
    const decoder = new FrameDecoder({ onSchema: (schema) => schemas.push(schema) });
    expect(decoder.push(join_(frames))).toEqual([one, one]);
    expect(decoder.finish()).toEqual({ batches: [], cut: 0 });
    expect([schemas, decoder.lost]).toEqual([[ROSS_PE], 0]);
  });

  it('with its end cut off gives what is whole', () => {
    const decoder = new FrameDecoder();
    expect(decoder.push(join_(frames).subarray(0, -3))).toEqual([one]);
    expect(decoder.finish().cut).toBe((frames.at(-1)?.length ?? 0) - 3);
  });

  it('skips the data of schemas that nobody wants', () => {
    expect(new FrameDecoder({ wanted: () => false }).push(join_(frames))).toEqual([]);
  });

  it('names file and byte of damage', () => {
    const bytes = join_(frames);
    bytes[bytes.length - 1] ^= 8;
    const at = bytes.length - (frames.at(-1)?.length ?? 0);
    const decoder = new FrameDecoder({ file });
    expect(decoder.push(bytes)).toEqual([one]);
    expect(() => decoder.finish()).toThrow(`${file}: byte ${at}: `);
  });

  it.each([
    ['{', 'the schema definition is not JSON'],
    ['[]', 'the schema definition is not an object'],
    ['{"name":"a b"}', 'the schema definition has no name'],
    [
      JSON.stringify({ ...SCHEMAS[0], metrics: [{ ...SCHEMAS[0].metrics[0], cell: 'u128' }] }),
      'the schema definition has a metric m0_u32 whose cell is not one of',
    ],
  ])('refuses the definition %s', (text, message) => {
    const encoder = new FrameEncoder();
    const name = 'x'.repeat(Math.max(1, text.length - 49));
    const [frame] = encoder.encode({
      schema: { name, domain: 'pe', help: '', metrics: [] },
      rows: 0,
      columns: [],
    });
    const changed = new Uint8Array(frame);
    changed.fill(0x20, 32).set(new TextEncoder().encode(text), 32);
    const head = new DataView(changed.buffer);
    head.setUint32(28, zlibCrc32(changed.subarray(32), zlibCrc32(changed.subarray(4, 28))), true);
    expect(() => new FrameDecoder().push(changed)).toThrow(message);
  });
});

describe('a file of frames, open', () => {
  const file = join(folder, 'open.frames');

  it('gives the columns asked for, as a scan of all does', () => {
    fc.assert(
      fc.property(batches, fc.nat(), (all, seed) => {
        writeFileSync(file, join_(encodeAll(all)));
        const source = openFile(file);
        for (const table of FRAMES.open(source).parts) {
          const own = withRows(all).filter(({ schema }) => schema.name === table.schema.name);
          expect(table.rows).toBe(own.reduce((sum, { rows }) => sum + rows, 0));
          // Any columns, in any order.
          const asked = table.schema.metrics.map((_, k) => (k * 7 + seed) % table.labels.length);
          const columns = [...new Set(asked)].slice(seed % 3);
          const found = Array.from(table.read(columns), ({ rows, columns: raw }) => ({
            rows,
            columns: raw.map((column, k) => {
              const labels = table.labels[columns[k]];
              // Its memory is the next step's, too.
              if (labels === null) return column.slice();
              return Array.from(column as Uint32Array, (n) => labels[n]);
            }),
          }));
          expect(found).toEqual(
            own.map(({ rows, columns: full }) => ({
              rows,
              columns: columns.map((column) => full[column]),
            })),
          );
        }
        source.close();
      }),
    );
  });

  it('of large frames reads only what is asked for', () => {
    const rows = 200_000;
    const columns = [new Uint32Array(rows).fill(7), new Float64Array(rows), new Uint32Array(rows)];
    writeFileSync(file, join_(encodeAll([{ schema: SCHEMAS[2], rows, columns }])));
    const source = openFile(file);
    const open = FRAMES.open(source);
    let sum = 0;
    for (const { columns: read } of open.parts[0].read([0])) {
      for (const value of read[0]) sum += Number(value);
    }
    expect(sum).toBe(7 * rows);
    source.close();
  });

  it('leaves out what is damaged or cut off, and tells it', () => {
    const one = { schema: SCHEMAS[1], rows: 1, columns: [['x'], ['y']] };
    const frames = encodeAll([one, one, one, one]);
    const bytes = join_(frames);
    bytes[join_(frames.slice(0, -2)).length - 1] ^= 1;
    writeFileSync(file, bytes.subarray(0, -1));
    const source = openFile(file);
    const open = FRAMES.open(source);
    expect(open.parts[0].rows).toBe(2);
    expect(open.suspect.map(({ what }) => what)).toEqual([
      'the frame is damaged: its checksum is another',
      `its last ${(frames.at(-1)?.length ?? 0) - 1} bytes are not a whole frame: the writer was stopped`,
      '1 frames of samples are missing',
    ]);
    source.close();
  });
});

describe('helpers', () => {
  it('crc32 by table is zlib’s', () => {
    expect(crc32).toBe(zlibCrc32);
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (bytes, before) => {
        expect(crc32ByTable(bytes, before)).toBe(zlibCrc32(bytes, before));
      }),
    );
  });

  it('bytes are turned on big-endian machines only', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    toLittle(bytes, 4, true);
    expect([...bytes]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    toLittle(bytes, 4, false);
    expect([...bytes]).toEqual([4, 3, 2, 1, 8, 7, 6, 5]);
  });
});
