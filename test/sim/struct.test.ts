/** Structs of typed fields: their layout, their accessors, and the log that undoes writes to them. */
import '../support/small-machine.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldOverflowError, ReadonlyFieldError } from '../../src/model/field-error.ts';
import { array, ring } from '../../src/model/fields.ts';
import {
  type ArrayView,
  type Field,
  type Fields,
  layoutOf,
  type RingView,
  type Scalar,
} from '../../src/model/struct.ts';
import { memoryOf, plain, structClass } from '../../src/model/struct-class.ts';
import { type Box, make } from './support/struct.ts';

const offsets = (fields: Fields) => layoutOf('box', fields).fields.map((f) => f.offset);

describe('layout', () => {
  it('aligns each field to its width, in declared order', () => {
    const fields = { count: 'u32', load: 'f64', route: array('u16', 3) } as const;
    expect(offsets(fields)).toEqual([0, 8, 16]);
    expect(layoutOf('box', fields).size).toBe(24);
    expect(offsets({ a: 'i8', b: 'i16', c: 'bool', d: 'i32', e: 'u8', f: 'i64' })).toEqual([
      0, 2, 4, 8, 12, 16,
    ]);
  });

  it('puts a ring behind two 32-bit counters', () => {
    expect(offsets({ a: 'u8', r: ring('u8', 3), b: 'u8' })).toEqual([0, 4, 15]);
    expect(offsets({ a: 'u8', r: ring('f64', 2), b: 'u8' })).toEqual([0, 8, 32]);
  });

  it('rounds the size up to 8 bytes', () => {
    expect(layoutOf('box', {}).size).toBe(0);
    expect(layoutOf('box', { a: 'u8' }).size).toBe(8);
    expect(layoutOf('box', { a: array('u8', 9) }).size).toBe(16);
  });

  it.each([
    [{ 'not a name': 'u8' }, 'box.not a name'],
    [{ constructor: 'u8' }, 'box.constructor'],
    [{ __proto: 'u8' }, 'box.__proto'],
    [{ a: 'u128' }, 'box.a: unknown field type "u128"'],
    [{ a: { kind: 'array', of: 'string', length: 3 } }, 'box.a: unknown field type'],
    [{ a: { kind: 'list', of: 'u8', length: 3 } }, 'box.a: unknown field type'],
    [{ a: null }, 'box.a: unknown field type'],
  ])('refuses %j', (fields, message) => {
    expect(() => layoutOf('box', fields as unknown as Fields)).toThrow(message);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses an array or ring of %s', (length) => {
    expect(() => array('u8', length)).toThrow(RangeError);
    expect(() => ring('u8', length)).toThrow(RangeError);
  });
});

interface Kind {
  readonly least: number | bigint;
  readonly most: number | bigint;
  readonly bytes: (view: DataView, at: number) => number | bigint;
}

const INTEGERS: Readonly<Record<string, Kind>> = {
  i8: { least: -128, most: 127, bytes: (v, at) => v.getInt8(at) },
  u8: { least: 0, most: 255, bytes: (v, at) => v.getUint8(at) },
  i16: { least: -32768, most: 32767, bytes: (v, at) => v.getInt16(at, true) },
  u16: { least: 0, most: 65535, bytes: (v, at) => v.getUint16(at, true) },
  i32: { least: -(2 ** 31), most: 2 ** 31 - 1, bytes: (v, at) => v.getInt32(at, true) },
  u32: { least: 0, most: 2 ** 32 - 1, bytes: (v, at) => v.getUint32(at, true) },
  i64: { least: -(2n ** 63n), most: 2n ** 63n - 1n, bytes: (v, at) => v.getBigInt64(at, true) },
  u64: { least: 0n, most: 2n ** 64n - 1n, bytes: (v, at) => v.getBigUint64(at, true) },
};

/** Any value of an integer type. */
function within({ least, most }: Kind): fc.Arbitrary<number | bigint> {
  return typeof least === 'bigint' || typeof most === 'bigint'
    ? fc.bigInt({ min: BigInt(least), max: BigInt(most) })
    : fc.integer({ min: least, max: most });
}

const next = (v: number | bigint, by: 1 | -1) => (typeof v === 'bigint' ? v + BigInt(by) : v + by);

describe('scalars', () => {
  it.each(Object.entries(INTEGERS))('%s keeps every value in its place, little endian', (t, k) => {
    const { struct, memory, at } = make({ pad: 'u8', x: t as Scalar, end: 'u8' });
    const box = struct as unknown as Box;
    const offset = offsets({ pad: 'u8', x: t as Scalar })[1] as number;
    const view = new DataView(memory.u8.buffer);
    box.pad = 255;
    box.end = 255;
    const keeps = (value: number | bigint) => {
      box.x = value;
      expect(box.x).toBe(value);
      expect(k.bytes(view, at + offset)).toBe(value);
      expect([box.pad, box.end]).toEqual([255, 255]);
    };
    keeps(k.least);
    keeps(k.most);
    fc.assert(fc.property(within(k), keeps), { numRuns: 100 });
  });

  it.each(Object.entries(INTEGERS))('%s refuses what does not fit, and stays as it was', (t, k) => {
    const { struct } = make({ x: t as Scalar });
    const box = struct as unknown as Box;
    box.x = k.most;
    const wrong = [next(k.most, 1), next(k.least, -1)];
    const others =
      typeof k.most === 'bigint' ? [2n ** 64n + 3n] : [0.5, Number.NaN, Infinity, 1e300];
    for (const value of [...wrong, ...others]) {
      expect(() => {
        box.x = value;
      }).toThrow(new FieldOverflowError(`box.x: ${value} does not fit in ${t}`));
      expect(box.x).toBe(k.most);
    }
  });

  it('f64 keeps every double', () => {
    const { struct } = make({ pad: 'u8', x: 'f64' });
    fc.assert(
      fc.property(fc.double(), (value) => {
        struct.x = value;
        expect(struct.x).toBe(value);
      }),
    );
  });

  it('f32 rounds, keeps NaN and infinities, refuses what would overflow', () => {
    const { struct } = make({ pad: 'u8', x: 'f32' });
    fc.assert(
      fc.property(fc.double({ min: -3.4e38, max: 3.4e38 }), (value) => {
        struct.x = value;
        expect(struct.x).toBe(Math.fround(value));
      }),
    );
    for (const value of [Number.NaN, Infinity, -Infinity]) {
      struct.x = value;
      expect(struct.x).toBe(value);
    }
    // The largest f32 and half a step more: the first double that would round to infinity.
    const most = 2 ** 128 - 2 ** 104;
    struct.x = most;
    for (const value of [most + 2 ** 103, -most - 2 ** 103, 1e39]) {
      expect(() => {
        struct.x = value;
      }).toThrow(FieldOverflowError);
    }
    expect(struct.x).toBe(most);
    struct.x = most + 2 ** 102;
    expect(struct.x).toBe(most);
  });

  it('bool is true or false', () => {
    const { struct, memory, at } = make({ x: 'bool', y: 'bool' });
    struct.y = true;
    expect([struct.x, struct.y, memory.u8[at], memory.u8[at + 1]]).toEqual([false, true, 0, 1]);
    struct.y = false;
    expect(struct.y).toBe(false);
  });

  it('64-bit integers are bigint, and nothing else', () => {
    const { struct } = make({ x: 'u64' });
    expect(() => {
      (struct as unknown as Box).x = 3;
    }).toThrow();
    expect(struct.x).toBe(0n);
  });
});

describe('arrays', () => {
  it('keep each element apart', () => {
    const { struct } = make({ pad: 'u8', a: array('u16', 5), b: array('f64', 2), end: 'u8' });
    struct.end = 7;
    for (let k = 0; k < 5; k++) struct.a.set(k, 60000 + k);
    struct.b.fill(2.5);
    expect(struct.a.length).toBe(5);
    expect(plain(layoutOf('box', { pad: 'u8', a: array('u16', 5) }), struct)).toEqual({
      pad: 0,
      a: [60000, 60001, 60002, 60003, 60004],
    });
    expect([struct.b.get(0), struct.b.get(1), struct.end]).toEqual([2.5, 2.5, 7]);
  });

  it.each([-1, 3, 0.5, Number.NaN, 2 ** 32])('refuse index %s', (index) => {
    const { struct } = make({ a: array('u8', 3) });
    expect(() => struct.a.get(index)).toThrow(`box.a[${index}]: index outside 0..2`);
    expect(() => struct.a.set(index, 1)).toThrow(FieldOverflowError);
  });

  it('refuse an element that does not fit', () => {
    const { struct } = make({ a: array('i8', 3), b: array('bool', 2) });
    expect(() => struct.a.set(1, 128)).toThrow('box.a: 128 does not fit in i8');
    expect(() => struct.a.fill(-129)).toThrow(FieldOverflowError);
    struct.b.set(1, true);
    expect([struct.a.get(1), struct.b.get(0), struct.b.get(1)]).toEqual([0, false, true]);
  });
});

describe('rings', () => {
  it('are queues that say when they are full or empty', () => {
    const { struct } = make({ pad: 'u8', r: ring('u16', 3), end: 'u8' });
    const r = struct.r;
    struct.end = 9;
    expect([r.length, r.capacity]).toEqual([0, 3]);
    expect(() => r.shift()).toThrow('box.r: the ring is empty');
    for (const v of [10, 11, 12]) r.push(v);
    expect(() => r.push(13)).toThrow('box.r: the ring is full (capacity 3)');
    expect([r.get(0), r.get(2)]).toEqual([10, 12]);
    expect(() => r.get(3)).toThrow('box.r[3]: index outside 0..2');
    expect(r.shift()).toBe(10);
    expect(() => r.push(65536)).toThrow('box.r: 65536 does not fit in u16');
    r.push(13);
    expect([r.get(0), r.get(1), r.get(2), r.length]).toEqual([11, 12, 13, 3]);
    r.clear();
    expect(r.length).toBe(0);
    expect(struct.end).toBe(9);
  });

  it.each(['u8', 'i32', 'f64', 'bool'] as const)('of %s behave as a list does', (t) => {
    const value = t === 'bool' ? fc.boolean() : fc.integer({ min: 0, max: 255 });
    const step = fc.oneof(
      fc.record({ push: value as fc.Arbitrary<number | boolean> }),
      fc.constant('shift' as const),
      fc.constant('clear' as const),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.array(step, { maxLength: 40 }), (n, steps) => {
        const { struct } = make({ pad: 'u8', r: ring(t, n) });
        const r = struct.r as RingView<unknown>;
        let list: unknown[] = [];
        for (const s of steps) {
          if (s === 'clear') {
            r.clear();
            list = [];
          } else if (s === 'shift') {
            if (list.length === 0) expect(() => r.shift()).toThrow('empty');
            else expect(r.shift()).toBe(list.shift());
          } else if (list.length === n) expect(() => r.push(s.push)).toThrow('full');
          else {
            r.push(s.push);
            list.push(s.push);
          }
          expect(Array.from({ length: r.length }, (_, k) => r.get(k))).toEqual(list);
        }
      }),
    );
  });
});

describe('read-only access', () => {
  it('reads everything and writes nothing', () => {
    const fields = { x: 'u8', a: array('f64', 2), r: ring('i16', 2) } as const;
    const writer = make(fields);
    writer.struct.x = 5;
    writer.struct.a.set(1, 0.5);
    writer.struct.r.push(-3);
    const Reader = structClass<typeof fields>(writer.layout, 'readonly');
    const reader = new Reader(writer.memory, null);
    reader.$b = writer.struct.$b;
    expect([reader.x, reader.a.get(1), reader.r.get(0), reader.r.length]).toEqual([5, 0.5, -3, 1]);
    const before = writer.memory.u8.slice();
    const writes: (() => void)[] = [
      () => {
        reader.x = 6;
      },
      () => reader.a.set(0, 1),
      () => reader.a.fill(1),
      () => reader.r.push(1),
      () => reader.r.shift(),
      () => reader.r.clear(),
    ];
    for (const write of writes) expect(write).toThrow(ReadonlyFieldError);
    expect(writer.memory.u8).toEqual(before);
  });
});

describe('field names', () => {
  it('may be any words, those that the accessors use themselves included', () => {
    const names =
      'b log s length m v i n k get set fill push shift clear capacity head count fail class static ' +
      'toString valueOf hasOwnProperty prototype name async await yield of from u8 f64 BigInt Math';
    const words = names.split(' ');
    const kinds: Field[] = ['f64', 'u8', array('u16', 2), ring('u32', 2)];
    for (let turn = 0; turn < kinds.length; turn++) {
      const fields = Object.fromEntries(
        words.map((w, k) => [w, kinds[(k + turn) % kinds.length] as Field]),
      );
      for (const access of ['plain', 'logged'] as const) {
        const { struct, layout } = make(fields, access);
        const box = struct as unknown as Box;
        words.forEach((word, k) => {
          const field = fields[word] as Field;
          if (typeof field === 'string') box[word] = k;
          else if (field.kind === 'array') (box[word] as ArrayView<number>).set(1, k);
          else (box[word] as RingView<number>).push(k);
        });
        const read = plain(layout, struct);
        words.forEach((word, k) => {
          const field = fields[word] as Field;
          const want = typeof field === 'string' ? k : field.kind === 'array' ? [0, k] : [k];
          expect(read[word], word).toEqual(want);
        });
      }
    }
  });

  it('are said in errors together with the struct', () => {
    const { struct } = make({ log: 'u8' });
    expect(() => {
      struct.log = 300;
    }).toThrow('box.log: 300 does not fit in u8');
  });
});

describe('several structs in one memory', () => {
  it('are reached by moving one accessor', () => {
    const layout = layoutOf('box', { x: 'u32', a: array('u8', 5) });
    const memory = memoryOf(new ArrayBuffer(10 * layout.size + 64));
    const struct = new (structClass<{ x: 'u32'; a: { kind: 'array'; of: 'u8'; length: 5 } }>(
      layout,
      'plain',
      16,
    ))(memory, null);
    for (let k = 0; k < 10; k++) {
      struct.$b = (k * layout.size) / 8;
      struct.x = 1000 + k;
      struct.a.set(4, k);
    }
    for (let k = 0; k < 10; k++) {
      struct.$b = (k * layout.size) / 8;
      expect([struct.x, struct.a.get(4)]).toEqual([1000 + k, k]);
      // The shift puts each struct 16 bytes after where the accessor stands.
      expect(memory.u32[(16 + k * layout.size) / 4]).toBe(1000 + k);
    }
  });
});
