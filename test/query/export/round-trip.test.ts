/** What `export` writes, read by others: DuckDB, hyparquet, apache-arrow. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { type ExportOptions, exportRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import type { Metric, Schema } from '../../../src/model/metric.ts';
import { ROSS_PE } from '../../../src/model/schemas/ross.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-export-'));
afterAll(() => rmSync(folder, { recursive: true }));

const metric = (key: string, cell: Metric['cell'], unit = ''): Metric => ({
  ...{ key, cell, unit, kind: 'gauge', behaviour: 'variable', form: 'total', over: 'last' },
  help: `what ${key} is`,
});
/** Each cell, at its limits. */
const LIMITS: Schema = {
  name: 'sim_limits',
  domain: 'pe',
  help: 'limits',
  metrics: [
    metric('real_time', 'f64', 's'),
    metric('u32', 'u32', 'B'),
    metric('i32', 'i32'),
    metric('u64', 'u64'),
    metric('f32', 'f32'),
    metric('f64', 'f64'),
    metric('label', 'label'),
  ],
};
const MOST = 18446744073709551615n;
const rows = [
  {
    real_time: 0.5,
    u32: 4294967295,
    i32: -2147483648,
    u64: MOST,
    f32: 0.5,
    f64: 0.1,
    label: 'é "q",\n|',
  },
  { real_time: 1.5, u32: 0, i32: 0, u64: 9007199254740993n, label: '' },
];
const path = writeFolder(join(folder, 'a.tri'), {
  'recording.json': recordingOf({
    pes: [
      { pe: 0, rank: 0, host: 'h1', cpu: 0, threadId: 1 },
      { pe: 1, rank: 1, host: 'h2', cpu: 0, threadId: 2 },
    ],
  }),
  'extra.frames': framesOf(
    batchOf(LIMITS, rows),
    batchOf(
      ROSS_PE,
      [0, 1, 1].map((pe_id, k) => ({
        pe_id,
        real_time: k + 1,
        mode: 'gvt',
        events_processed: 10 * (k + 1),
      })),
    ),
  ),
  'node/h1/1': rawStats(
    'h1',
    [0, 1].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }] })),
  ),
});

let count = 0;
/** Exports into a new place. */
async function exported(options: Omit<ExportOptions, 'paths'>, name = ''): Promise<string> {
  const out = join(folder, `${++count}${name}`);
  await exportRecording({ paths: [path], ...options }, out);
  return out;
}

async function duck(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const read = await connection.runAndReadAll(sql);
  connection.closeSync();
  instance.closeSync();
  return read.getRowsJS() as unknown[][];
}

describe('Parquet', () => {
  const table = { format: 'parquet', tables: ['sim_limits'] } as const;

  it('keeps every value and type: read by hyparquet', async () => {
    const file = await asyncBufferFromFile(await exported(table));
    const [first, second] = await parquetReadObjects({ file, utf8: true });
    expect(first).toEqual({
      ...{ t: 0.5, real_time: 0.5, u32: 4294967295, i32: -2147483648, u64: MOST },
      ...{ f32: 0.5, f64: 0.1, label: 'é "q",\n|' },
    });
    expect([second.u64, second.f32, second.f64, second.label]).toEqual([
      9007199254740993n,
      null,
      null,
      null,
    ]);
  });

  it('keeps them for DuckDB, with units and sentences', async () => {
    const file = await exported(table);
    const types = await duck(`SELECT column_type FROM (DESCRIBE FROM read_parquet('${file}'))`);
    expect(types.flat().join()).toBe('DOUBLE,DOUBLE,UINTEGER,INTEGER,UBIGINT,FLOAT,DOUBLE,VARCHAR');
    const { key_value_metadata } = await parquetMetadataAsync(await asyncBufferFromFile(file));
    const about = key_value_metadata?.find(({ key }) => key === 'triscope.columns')?.value ?? '';
    expect(JSON.parse(about).u32).toEqual({ unit: 'B', help: 'what u32 is' });
  });

  it('keeps sums of 64-bit integers exactly', async () => {
    const file = await exported({
      format: 'parquet',
      sql: 'SELECT sum(u64) AS s FROM sim_limits -- all',
    });
    const [[digits]] = await duck(`SELECT s::VARCHAR FROM read_parquet('${file}')`);
    expect(digits).toBe('18455751272964292608');
  });

  it('has a folder a host on request: its own, or that of the PE', async () => {
    const out = await exported({
      format: 'parquet',
      partition: 'host',
      tables: ['ross_pe', 'node_cpu'],
    });
    const pes = await duck(
      `SELECT host, sum(events_processed)::INTEGER FROM read_parquet('${out}/ross_pe/*/*.parquet', hive_partitioning = true) GROUP BY ALL ORDER BY 1`,
    );
    expect(pes).toEqual([
      ['h1', 10],
      ['h2', 50],
    ]);
    expect(readdirSync(join(out, 'node_cpu'))).toEqual(['host=h1']);
    const single = await exported({ format: 'parquet', partition: 'host', sql: 'FROM ross_pe' });
    expect(readdirSync(single).sort()).toEqual(['host=h1', 'host=h2']);
  });

  it('has a file for each of the recording’s tables', async () => {
    const out = await exported({ format: 'parquet' });
    const names = readdirSync(out).map((name) => name.replace('.parquet', ''));
    expect(names.sort()).toEqual([
      ...[
        'clocks',
        'entities',
        'metrics',
        'node_cpu',
        'node_cpu_steal',
        'pes',
        'recording',
        'ross_pe',
        'sim_limits',
      ],
      'suspect',
    ]);
  });
});

describe('Arrow', () => {
  it('keeps every value and type: read by apache-arrow', async () => {
    const bytes = readFileSync(await exported({ format: 'arrow', tables: ['sim_limits'] }));
    const table = tableFromIPC(bytes);
    const types = table.schema.fields.map(({ type }) => String(type)).join();
    expect(types).toBe('Float64,Float64,Uint32,Int32,Uint64,Float32,Float64,Utf8');
    expect(table.schema.fields[2].metadata.get('unit')).toBe('B');
    const values = table.toArray().map((row) => ({ ...row?.toJSON() }));
    expect(values).toEqual([
      { t: 0.5, ...rows[0] },
      { t: 1.5, ...rows[1], f32: null, f64: null, label: null },
    ]);
  });

  it('is read as a stream, too: what lies between the magic words is one', async () => {
    const bytes = readFileSync(await exported({ format: 'arrow', tables: ['sim_limits'] }));
    expect(tableFromIPC(bytes.subarray(8)).numRows).toBe(2);
  });

  it('holds what SQL makes: booleans, dates, times, decimals, lists as texts', async () => {
    const sql = `SELECT n % 3 = 0 AS third, CASE WHEN n % 2 = 0 THEN n END AS even, n::HUGEINT * 10000000000000000000 AS huge,
      DATE '2026-03-01' + n::INTEGER AS day, TIMESTAMP '2026-03-01 12:00:00.5' AS moment, 1.25::DECIMAL(5, 2) AS d, [n] AS list
      FROM range(150000) r(n)`;
    const table = tableFromIPC(readFileSync(await exported({ format: 'arrow', sql })));
    expect([table.numRows, table.batches.length > 1]).toEqual([150_000, true]);
    const column = (name: string) => table.getChild(name);
    expect([0, 1, 99_999].map((n) => column('third')?.get(n))).toEqual([true, false, true]);
    expect([0, 1, 149_998].map((n) => column('even')?.get(n))).toEqual([0n, null, 149_998n]);
    expect(column('even')?.nullCount).toBe(75_000);
    expect(new Date(Number(column('day')?.get(1))).toISOString()).toBe('2026-03-02T00:00:00.000Z');
    expect(Number(column('moment')?.get(0))).toBe(Date.UTC(2026, 2, 1, 12) + 500);
    expect(String(column('huge')?.get(3))).toContain('30000000000000000000');
    expect(column('list')?.get(149_999)).toBe('[149999]');
    expect(String(column('d')?.type)).toContain('Decimal');
  });

  it('holds no rows', async () => {
    const table = tableFromIPC(
      readFileSync(await exported({ format: 'arrow', sql: 'SELECT 1 AS a WHERE false' })),
    );
    expect([table.numRows, table.schema.fields[0].name]).toEqual([0, 'a']);
  });
});

describe('texts', () => {
  it('CSV: read by DuckDB', async () => {
    const file = await exported({ format: 'csv', tables: ['sim_limits'] });
    const read = await duck(`SELECT * FROM read_csv('${file}', all_varchar = true)`);
    expect(read[0]).toEqual([
      '0.5',
      '0.5',
      '4294967295',
      '-2147483648',
      String(MOST),
      '0.5',
      '0.1',
      'é "q",\n|',
    ]);
    expect(read[1].slice(4)).toEqual(['9007199254740993', null, null, null]);
  });

  it('JSON: an object a line, digits as they are, infinite numbers as texts', async () => {
    const sql =
      "SELECT u64, f64, 'inf'::DOUBLE AS i, 'nan'::DOUBLE AS n FROM sim_limits ORDER BY t";
    const lines = readFileSync(await exported({ format: 'json', sql }), 'utf8').split('\n');
    expect(lines[0]).toBe(`{"u64":${MOST},"f64":0.1,"i":"Infinity","n":null}`);
    expect(JSON.parse(lines[1])).toEqual({
      u64: 9007199254740992,
      f64: null,
      i: 'Infinity',
      n: null,
    });
    expect(lines.slice(2)).toEqual(['']);
  });
});
