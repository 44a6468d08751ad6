/** What a file of ROSS opens to: columns as asked for, decoded payloads, and what is suspect in it. */
import { fileURLToPath } from 'node:url';
import { batchesOf, bytesSource, openFile, ROSS } from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { encode, type Row } from './support/rows.ts';

describe('payloads', () => {
  const MODEL: Row = {
    kind: 3,
    mode: 1,
    real: 1,
    virtual: 2,
    gvt: 2,
    values: { pe_id: 0, kp_id: 0, lp_id: 5 },
    payload: new Uint8Array(new Float64Array([0.5, 2 ** -1074]).buffer),
  };
  const bytes = encode('ross-7', [MODEL, { ...MODEL, payload: Uint8Array.of(1) }, MODEL]);
  const layout = [
    { name: 'half', type: 'f64' },
    { name: 'bits', type: 'u64' },
  ] as const;

  it('become columns by a layout; records that it does not fit stay hex', () => {
    const { parts } = ROSS.open(bytesSource('a-model.bin', bytes), { payload: layout });
    const batches = parts.flatMap((part) => [...batchesOf(part)]);
    const tables = batches.map(({ schema, columns, rows: length }) => ({
      length,
      ...Object.fromEntries(schema.metrics.map(({ key }, k) => [key, columns[k][0]])),
    }));
    expect(tables).toHaveLength(2);
    expect(tables[0]).toMatchObject({ length: 2, half: 0.5, bits: 1n, lp_id: 5, mode: 'gvt' });
    expect(tables[1]).toMatchObject({ length: 1, model_data: '01' });
    expect(tables[1]).not.toHaveProperty('half');
  });

  it('have their layout from the recording around them', () => {
    const recording = JSON.stringify({
      sources: [{ files: [{ path: 'stats-output/a-model.bin', payload: layout }] }],
    });
    const source = bytesSource('x/a-model.bin', bytes, { '../recording.json': recording });
    const [{ schema }] = ROSS.open(source).parts;
    expect(schema.metrics.map(({ key }) => key).slice(-2)).toEqual(['half', 'bits']);
  });
});

it('a part gives only the columns asked for, in the order asked', () => {
  const row: Row = {
    kind: 0,
    mode: 1,
    real: 1,
    virtual: 2,
    gvt: 2,
    values: { events_processed: 9 },
  };
  const [part] = ROSS.open(bytesSource('a-gvt.bin', encode('ross-7', [row, row]))).parts;
  const at = (key: string) => part.schema.metrics.findIndex((metric) => metric.key === key);
  const [step] = part.read([at('events_processed'), at('mode'), at('real_time')]);
  expect(step.columns.map((column) => [...column])).toEqual([
    [9, 9],
    [0, 0],
    [1, 1],
  ]);
  expect([part.labels[at('mode')], part.span]).toEqual([
    ['gvt'],
    { from: 1, to: 1, ordered: true },
  ]);
  const [counted] = part.read([]);
  expect([counted.rows, counted.columns, part.rows]).toEqual([2, [], 2]);
});

it('the sample that ends a run in real time is expected, any other beyond all times is suspect', () => {
  const row = (pe_id: number, real: number, virtual: number, mode: 1 | 2): Row[] =>
    ([0, 1] as const).map((kind) => ({
      ...{ kind, mode, real, virtual, gvt: virtual },
      values: { pe_id },
    }));
  const said = (name: string, rows: readonly Row[]) =>
    ROSS.open(bytesSource(name, encode('ross-7', rows)))
      .info()
      .suspect.map(({ what }) => what);
  const END = Number.MAX_VALUE;
  const beyond = 'virtual time is beyond all: sampled after the last GVT';
  const whole = [0, 1].flatMap((pe) => [...row(pe, 1, 5, 2), ...row(pe, 2 + pe, END, 2)]);
  expect(said('a-rt.bin', whole)).toEqual([]);
  // Once a PE, and only of those in real time.
  expect(said('a-rt.bin', [...whole, ...row(1, 4, END, 2)])).toEqual([
    `${beyond} (2 records, the first here)`,
  ]);
  expect(said('a-gvt.bin', row(0, 1, END, 1))).toEqual([`${beyond} (2 records, the first here)`]);
});

it('rows of a kind that fill a step in the middle of others are those of the file', () => {
  const lps = 25_000;
  const of = (kind: 0 | 1 | 2, n: number): Row => ({
    ...{ kind, mode: 1, real: n, virtual: n, gvt: n },
    values: { events_processed: n },
  });
  // A PE and three LPs in turn: no step of 65,536 rows ends where a stretch of records does.
  const rows = Array.from({ length: lps }, (_, n) => [
    of(0, n),
    ...[0, 1, 2].map((k) => of(2, 3 * n + k)),
  ]).flat();
  const { parts } = ROSS.open(bytesSource('a-gvt.bin', encode('ross-7', rows)));
  const part = parts.find(({ schema }) => schema.name === 'ross_lp');
  const column = part?.schema.metrics.findIndex(({ key }) => key === 'events_processed') ?? -1;
  const found: number[] = [];
  for (const { columns } of part?.read([column]) ?? [])
    found.push(...Array.from(columns[0], Number));
  expect(found).toEqual(Array.from({ length: 3 * lps }, (_, n) => n));
});

it('a text is no file of ROSS', () => {
  const source = openFile(fileURLToPath(import.meta.url));
  expect(ROSS.detect(new Uint8Array(1000).fill(65), source)).toBe(null);
  source.close();
});
