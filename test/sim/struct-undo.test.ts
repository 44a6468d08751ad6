/** The log that undoes writes to structs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldOverflowError } from '../../src/model/field-error.ts';
import { array, ring, word } from '../../src/model/fields.ts';
import type { ArrayView, Field, RingView, Scalar } from '../../src/model/struct.ts';
import { type Box, make, recorder } from './support/struct.ts';

const SCALARS: readonly Scalar[] = [
  'i8',
  'u8',
  'i16',
  'u16',
  'i32',
  'u32',
  'i64',
  'u64',
  'f32',
  'f64',
  'bool',
];

const anyField: fc.Arbitrary<Field> = fc.oneof(
  fc.constantFrom(...SCALARS),
  fc
    .tuple(fc.constantFrom(...SCALARS), fc.integer({ min: 1, max: 9 }))
    .map(([t, n]) => array(t, n)),
  fc.tuple(fc.constantFrom(...SCALARS), fc.integer({ min: 1, max: 9 })).map(([t, n]) => ring(t, n)),
  fc.integer({ min: 1, max: 300 }).map((n) => word(Array.from({ length: n }, (_, k) => `w${k}`))),
);

/** A write to field `field` (modulo their number): where in it, what, and which of a ring's operations. */
const anyWrite = fc.record({
  field: fc.nat(20),
  index: fc.nat(9),
  value: fc.integer({ min: -300, max: 70000 }),
  how: fc.constantFrom('one', 'one', 'one', 'shift', 'all'),
});
type Write = typeof anyWrite extends fc.Arbitrary<infer W> ? W : never;

/** Does one write; one that does not fit must throw and is then none at all. */
function write(box: Box, fields: readonly (readonly [string, Field])[], w: Write): void {
  const [name, field] = fields[w.field % fields.length] as readonly [string, Field];
  if (typeof field === 'object' && field.kind === 'cells') return;
  if (typeof field === 'object' && field.kind === 'word') {
    box[name] = field.words[w.index % field.words.length];
    return;
  }
  const scalar = typeof field === 'string' ? field : field.of;
  const value =
    scalar === 'bool'
      ? w.value % 2 === 0
      : scalar === 'i64' || scalar === 'u64'
        ? BigInt(w.value) * 3_000_000_000_000n
        : scalar === 'f32' || scalar === 'f64'
          ? w.value / 7
          : w.value;
  try {
    if (typeof field === 'string') box[name] = value;
    else if (field.kind === 'array') {
      const view = box[name] as ArrayView<unknown>;
      if (w.how === 'all') view.fill(value);
      else view.set(w.index % field.length, value);
    } else {
      const view = box[name] as RingView<unknown>;
      if (w.how === 'all') view.clear();
      else if (w.how === 'shift') view.shift();
      else view.push(value);
    }
  } catch (error) {
    if (!(error instanceof FieldOverflowError)) throw error;
  }
}

describe('the undo log', () => {
  it('restores every byte, back to any point', () => {
    const cases = fc.record({
      fields: fc.array(anyField, { minLength: 1, maxLength: 8 }),
      events: fc.array(fc.array(anyWrite, { maxLength: 12 }), { maxLength: 30 }),
      back: fc.nat(29),
    });
    fc.assert(
      fc.property(cases, ({ fields, events, back }) => {
        const named = fields.map((field, k) => [`x${k}`, field] as const);
        const { struct, memory, log } = make(Object.fromEntries(named), 'logged');
        const box = struct as unknown as Box;
        fc.pre(events.length > 0);
        const to = back % events.length;
        let mark = 0;
        let before = memory.u8.slice();
        events.forEach((writes, k) => {
          if (k === to) {
            mark = log.undoTail;
            before = memory.u8.slice();
          }
          for (const w of writes) write(box, named, w);
        });
        const after = memory.u8.slice();
        while (log.undoTail !== mark) log.restore(memory.i32, null);
        expect(memory.u8).toEqual(before);
        // Done again, it gives the same bytes.
        for (const writes of events.slice(to)) for (const w of writes) write(box, named, w);
        expect(memory.u8).toEqual(after);
        while (log.undoTail !== log.undoHead) log.restore(memory.i32, null);
        expect(memory.u8.every((byte) => byte === 0)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('goes round its ring: commits take from the head, rollbacks from the tail', () => {
    const { struct, memory, log } = make({ a: 'u32', b: 'f64' }, 'logged');
    const undos: number[] = [];
    const states: [number, number][] = [];
    let random = 1;
    for (let step = 0; step < 20_000; step++) {
      random = (Math.imul(random, 1103515245) + 12345) >>> 0;
      const what = (random >>> 16) % 100;
      if (what < 55) {
        states.push([struct.a, struct.b]);
        const before = log.undoTail;
        struct.a = step;
        if (what % 2 === 0) struct.b = step / 3;
        undos.push(log.undoTail - before);
      } else if (what < 75 && undos.length > 0) {
        const n = undos.pop() as number;
        for (let k = 0; k < n; k++) log.restore(memory.i32, null);
        expect([struct.a, struct.b]).toEqual(states.pop());
      } else if (undos.length > 3) {
        log.undoHead += undos.shift() as number;
        states.shift();
      }
    }
    expect(undos.length).toBeGreaterThan(16);
  });

  it('keeps the second value of a normal pair apart from LP memory', () => {
    const words = new Int32Array(16);
    const spares = new Int32Array(new Float64Array([1.5, Number.NaN]).buffer);
    const kp = recorder(words);
    const bits = new Int32Array(new Float64Array([0.25]).buffer);
    kp.saveWords(~1, bits[0] as number, bits[1] as number);
    kp.restore(words, spares);
    expect([...new Float64Array(spares.buffer)]).toEqual([1.5, 0.25]);
    expect(words.every((w) => w === 0)).toBe(true);
  });
});
