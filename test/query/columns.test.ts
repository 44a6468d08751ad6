/** Results as columns, and tables typed from their schemas. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenRecording, openRecording, QueryError } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { ROSS_PE, ROSS_ROLLBACK } from '../../src/model/schemas/ross.ts';
import { SIM_THREAD } from '../../src/model/schemas/sim.ts';
import { selectOf } from '../../src/query/typed-table.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-columns-'));
const ROWS = 70_000;
let recording: OpenRecording;

beforeAll(async () => {
  const index = Uint32Array.from({ length: ROWS }, (_, k) => k);
  const of: Record<string, unknown> = {
    real_time: Float64Array.from(index, (k) => k / 1000),
    pe_id: index.map((k) => k % 4),
    events_processed: index,
    efficiency: Float32Array.from(index, (k) => (k % 3 === 0 ? Number.NaN : k % 100)),
    mode: Array.from(index, (k) => (k % 2 === 0 ? 'gvt' : '')),
  };
  const empty = {
    u32: Uint32Array,
    f32: Float32Array,
    f64: Float64Array,
    u64: BigUint64Array,
    i32: Int32Array,
  };
  const columns = ROSS_PE.metrics.map(({ key, cell }) =>
    cell === 'label' ? of[key] : (of[key] ?? new empty[cell](ROWS)),
  );
  const path = writeFolder(join(folder, 'run.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(
      { schema: ROSS_PE, rows: ROWS, columns: columns as Uint32Array[] },
      batchOf(SIM_THREAD, [{ pe_id: 1, real_time: 1, cpu_time: 2n ** 64n - 1n }]),
      batchOf(ROSS_ROLLBACK, [{ pe_id: 1, real_time: 1, cause: 'straggler', depth: 2.5 }]),
    ),
    'node/h1/1': rawStats('h1', [{ time: NOON, cpus: [{ user: 2n ** 53n + 1n }] }]),
  });
  recording = await openRecording(path);
});
afterAll(async () => {
  await recording.close();
  rmSync(folder, { recursive: true });
});

describe('recording.table', () => {
  it('gives columns as arrays of their types, in batches, known to the compiler', async () => {
    let rows = 0;
    let sum = 0;
    const names = ['t', 'pe_id', 'events_processed', 'efficiency', 'mode'] as const;
    for await (const batch of recording.table('ross_pe').batches(names)) {
      const { t, pe_id, events_processed, efficiency, mode } = batch.columns;
      expectTypeOf(t).toEqualTypeOf<Float64Array>();
      expectTypeOf(pe_id).toEqualTypeOf<Uint32Array>();
      expectTypeOf(efficiency).toEqualTypeOf<Float32Array>();
      expectTypeOf(mode).toEqualTypeOf<readonly (string | null)[]>();
      expect(t).toBeInstanceOf(Float64Array);
      expect(efficiency).toBeInstanceOf(Float32Array);
      expect(batch.rows).toBe(t.length);
      for (let row = 0; row < batch.rows; row++) sum += events_processed[row];
      const third = 3 * Math.ceil(rows / 3) - rows;
      expect(efficiency[third]).toBeNaN();
      expect(batch.missing.efficiency?.[third]).toBe(1);
      expect(batch.missing.efficiency?.[third + 1]).toBe(0);
      expect(batch.missing.pe_id).toBeNull();
      expect([mode[0], mode[1]]).toEqual(rows % 2 === 0 ? ['gvt', null] : [null, 'gvt']);
      rows += batch.rows;
    }
    expect([rows, sum]).toEqual([ROWS, (ROWS * (ROWS - 1)) / 2]);
  });

  it('gives the rows of a time, and of a condition', async () => {
    const seen: number[] = [];
    const options = { from: 1, to: 1.01, where: 'pe_id = 2 -- of one PE' };
    for await (const { columns } of recording
      .table('ross_pe')
      .batches(['events_processed'], options)) {
      seen.push(...columns.events_processed);
    }
    expect(seen).toEqual([1002, 1006]);
  });

  it('keeps 64 bits, and tables that only their files describe', async () => {
    for await (const { columns } of recording.table('sim_thread').batches(['cpu_time'])) {
      expectTypeOf(columns.cpu_time).toEqualTypeOf<BigUint64Array>();
      expect(columns.cpu_time).toEqual(BigUint64Array.of(2n ** 64n - 1n));
    }
    for await (const { columns } of recording.table('node_cpu').batches(['user', 'host'])) {
      expectTypeOf(columns.user).toEqualTypeOf<BigUint64Array>();
      expectTypeOf(columns.host).toEqualTypeOf<readonly (string | null)[]>();
      expect(columns).toEqual({ user: BigUint64Array.of(2n ** 53n + 1n), host: ['h1'] });
    }
  });

  it('types tables of raw stats and of GEOPM by their names, as their readers do', async () => {
    // Compiled only: there is no such table here.
    const regions = async () => {
      const table = recording.table('geopm_region');
      for await (const { columns } of table.batches(['region', 'hash', 'runtime', 't'])) {
        expectTypeOf(columns.region).toEqualTypeOf<readonly (string | null)[]>();
        expectTypeOf(columns.hash).toEqualTypeOf<Uint32Array>();
        expectTypeOf(columns.runtime).toEqualTypeOf<Float64Array>();
        expectTypeOf(columns.t).toEqualTypeOf<Float64Array>();
      }
    };
    expect(regions).toBeTypeOf('function');
    const rates = recording.table('node_cpu_rate').batches(['t0', 'device', 'user']);
    for await (const { columns } of rates) {
      expectTypeOf(columns.user).toEqualTypeOf<Float64Array>();
      expectTypeOf(columns.device).toEqualTypeOf<readonly (string | null)[]>();
    }
    // Whatever the readers of formats declare is what the names say.
    const declared = await recording.query<{
      table_name: string;
      column_name: string;
      type: string;
    }>(
      `SELECT table_name, column_name, type FROM metrics
        WHERE table_name LIKE 'node!_%' ESCAPE '!' AND NOT ends_with(table_name, '_rate')`,
    );
    expect(declared.length).toBeGreaterThan(10);
    for (const { table_name, column_name, type } of declared) {
      const sql = selectOf(table_name, [column_name], {});
      expect(sql, table_name).toContain(`"${column_name}"::${type} `);
    }
  });

  it('refuses columns and tables that there are not, when it is compiled and when it runs', async () => {
    const first = async (batches: AsyncIterable<unknown>) => {
      for await (const batch of batches) return batch;
      return null;
    };
    // @ts-expect-error: no such column
    const wrong = recording.table('ross_rollback').batches(['dept']);
    await expect(first(wrong)).rejects.toThrow(/^there is no column dept at line 1, .*depth/);
    const nowhere = recording.table('ross_pes').batches(['t']);
    await expect(first(nowhere)).rejects.toThrow(
      /^there is no table ross_pes .*did you mean ross_pe\?/,
    );
    await expect(first(recording.table('ross_pe').batches([]))).rejects.toThrow(QueryError);
  });
});

describe('recording.columns', () => {
  it('keeps a byte order mark at the beginning of a value, long or short', async () => {
    const texts = ['\ufeffx', '\ufeffa name of more than twelve bytes', 'a\ufeffb'];
    const [row] = await recording.query<Record<string, string>>(
      `SELECT ${texts.map((text, k) => `'${text}' AS c${k}`).join(', ')}`,
    );
    expect(Object.values(row)).toEqual(texts);
  });

  it('gives what a query gives, whatever its types', async () => {
    const sql = `SELECT 1::TINYINT AS a, 2::USMALLINT AS b, -3::BIGINT AS c, true AS d, 'x' AS e, NULL::INTEGER AS f,
      [1, 2] AS g, 1.5::DECIMAL(4,2) AS h, sum(events_processed) AS i, NULL AS j, NULL::DOUBLE AS k FROM ross_pe`;
    const { columns, batches } = await recording.columns(sql);
    expect(columns.map(({ name }) => name).join('')).toBe('abcdefghijk');
    for await (const { rows, columns: all, missing } of batches) {
      expect(rows).toBe(1);
      expect(all).toEqual([
        ...[Int8Array.of(1), Uint16Array.of(2), BigInt64Array.of(-3n), Uint8Array.of(1), ['x']],
        ...[Int32Array.of(0), [[1, 2]], [1.5], [BigInt((ROWS * (ROWS - 1)) / 2)]],
        ...[Int32Array.of(0), Float64Array.of(Number.NaN)],
      ]);
      expect(missing.map((one) => one?.[0] ?? 0).join('')).toBe('00000100011');
    }
  });

  it('can be left early; an error in the middle is told', async () => {
    const { batches } = await recording.columns('SELECT * FROM ross_pe');
    for await (const { rows } of batches) {
      expect(rows).toBeGreaterThan(1000);
      break;
    }
    const all = async (sql: string) => {
      for await (const _ of (await recording.columns(sql)).batches);
    };
    await expect(
      all(
        `SELECT CASE WHEN events_processed > 60000 THEN error('too many') ELSE t END AS x FROM ross_pe`,
      ),
    ).rejects.toThrow(/^SQL: too many/);
    expect(await recording.query('SELECT 1 AS a')).toEqual([{ a: 1 }]);
  });
});
