/** Stream frames as a format: recognised by their magic, told as records, damage named. */
import { bytesSource, FormatError, FRAMES, identify, scanRecords } from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { FrameEncoder } from '../../../src/formats/frames/index.ts';
import type { Schema } from '../../../src/model/metric.ts';

const SCHEMA: Schema = {
  name: 'probe',
  domain: 'device',
  help: 'made up',
  metrics: (['real_time', 'count', 'name'] as const).map((key, k) => ({
    key,
    cell: (['f64', 'u64', 'label'] as const)[k],
    kind: 'gauge',
    behaviour: k === 2 ? 'label' : 'variable',
    form: 'total',
    unit: '',
    over: 'last',
    help: '',
  })),
};

function frames(...batches: [number[], bigint[], string[]][]): Buffer {
  const encoder = new FrameEncoder();
  return Buffer.concat(
    batches.flatMap(([times, counts, names]) =>
      encoder.encode({
        schema: SCHEMA,
        rows: times.length,
        columns: [Float64Array.from(times), BigUint64Array.from(counts), names],
      }),
    ),
  );
}

const BYTES = frames(
  [
    [0.5, Number.NaN],
    [1n, 2n ** 64n - 1n],
    ['a', ''],
  ],
  [[2], [3n], ['b']],
);

function rows(bytes: Uint8Array, salvage = false): [unknown[][], number] {
  const found: unknown[][] = [];
  let damages = 0;
  scanRecords(
    FRAMES,
    bytesSource('x.frames', bytes),
    {
      records: (block) => {
        for (let k = 0; k < block.length; k++) {
          found.push(block.kind(k).keys.map((_, key) => block.cell(k, key)));
        }
        return undefined;
      },
      damage: () => {
        damages++;
      },
    },
    { salvage },
  );
  return [found, damages];
}

const ALL = [
  [0.5, 1n, 'a'],
  [null, 2n ** 64n - 1n, null],
  [2, 3n, 'b'],
];

describe('a file of frames', () => {
  it('is known by its first bytes, and read row by row', () => {
    expect(identify(bytesSource('any', BYTES))?.format.name).toBe('frames');
    expect(rows(BYTES)).toEqual([ALL, 0]);
    expect(FRAMES.open(bytesSource('x', BYTES)).parts.map(({ schema }) => schema.name)).toEqual([
      'probe',
    ]);
  });

  it('is described: rows by schema, span, what is wrong', () => {
    expect(FRAMES.open(bytesSource('x', BYTES)).info()).toMatchObject({
      records: { probe: 3 },
      from: { real_time: 0.5 },
      to: { real_time: 2 },
      suspect: [],
      damaged: false,
    });
    const cut = FRAMES.open(bytesSource('x', BYTES.subarray(0, BYTES.length - 5))).info();
    expect(cut.records).toEqual({ probe: 2 });
    expect(cut.suspect[0].what).toMatch(/not a whole frame: the writer was stopped/);
  });

  it('is read up to damage, or past it', () => {
    const damaged = Buffer.from(BYTES);
    damaged[damaged.length - 3] ^= 1;
    expect(() => rows(damaged)).toThrow(FormatError);
    expect(rows(damaged, true)).toEqual([ALL.slice(0, 2), 1]);
    expect(FRAMES.open(bytesSource('x', damaged)).info().damaged).toBe(true);
  });
});
