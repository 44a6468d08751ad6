/** What a query may do: read the recording, and nothing else. Files are read by table functions, and from the cache. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenRecording, openRecording, QueryError, TimeLimitError } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-locked-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = writeFolder(join(folder, 'run.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(batchOf(ROSS_PE, [{ pe_id: 0, real_time: 1, mode: 'gvt' }])),
  'secret.csv': 'a,b\n1,secret\n',
});
const secret = join(path, 'secret.csv');
const cache = join(folder, 'cache');
const written = join(folder, 'written');

/** By kind: statements that must not be. */
const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  DROP: ['DROP VIEW ross_pe', 'DROP TABLE pes', 'DROP SCHEMA main CASCADE'],
  INSERT: ["INSERT INTO suspects VALUES ('a', 'b')", 'INSERT INTO ross_pe SELECT * FROM ross_pe'],
  'UPDATE and DELETE': ["UPDATE recording SET name = 'x'", 'DELETE FROM pes', 'TRUNCATE pes'],
  CREATE: [
    'CREATE TABLE x (a INTEGER)',
    'CREATE TEMP TABLE x AS SELECT 1',
    'CREATE OR REPLACE VIEW ross_pe AS SELECT 1 AS a',
    'CREATE MACRO f(x) AS x',
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
  ],
  ALTER: ['ALTER TABLE pes ADD COLUMN x INTEGER', "COMMENT ON TABLE pes IS 'x'"],
  'a second statement': ['SELECT 1; SELECT 2', 'SELECT 1; DROP VIEW ross_pe', 'SELECT 1;;SELECT 2'],
  'COPY and EXPORT': [
    `COPY pes TO '${written}'`,
    `COPY (SELECT 1) TO '${written}' (FORMAT parquet)`,
    `COPY pes FROM '${secret}'`,
    `EXPORT DATABASE '${written}'`,
  ],
  'ATTACH, DETACH and USE': [
    `ATTACH '${written}'`,
    `ATTACH ':memory:' AS x`,
    'DETACH memory',
    'USE system',
  ],
  'PRAGMA and CALL': [
    'PRAGMA threads = 1',
    'PRAGMA enable_profiling',
    'PRAGMA force_checkpoint',
    'CALL force_checkpoint()',
    'CHECKPOINT',
  ],
  'SET and RESET': [
    'SET threads = 1',
    'SET enable_external_access = true',
    "SET allowed_paths = ['/']",
    "SET memory_limit = '1TB'",
    'RESET enable_external_access',
    'SET lock_configuration = false',
  ],
  'INSTALL and LOAD': ['INSTALL httpfs', 'LOAD httpfs', `LOAD '${secret}'`],
  'reading other files': [
    `SELECT * FROM '${secret}'`,
    `FROM read_text('${secret}')`,
    `FROM read_csv('${secret}')`,
    `FROM read_blob('${secret}')`,
    `FROM read_json('${secret}')`,
    `FROM read_parquet('${secret}')`,
    `FROM glob('${path}/*')`,
    `FROM sniff_csv('${secret}')`,
    "FROM read_text('https://example.org/')",
  ],
  transactions: ['BEGIN', 'COMMIT', 'ROLLBACK'],
  'PREPARE and EXECUTE': ['PREPARE p AS SELECT 1', 'EXECUTE p', 'DEALLOCATE p'],
  'IMPORT and VACUUM': [`IMPORT DATABASE '${path}'`, 'VACUUM', 'ANALYZE', 'VACUUM ANALYZE'],
  'a CTE that changes data': [
    'WITH a AS (DELETE FROM pes RETURNING *) FROM a',
    "WITH a AS (INSERT INTO suspect VALUES ('a', 'b') RETURNING *) SELECT * FROM a",
    "WITH a AS (SELECT 1) INSERT INTO suspect VALUES ('a', 'b')",
    'WITH a AS (SELECT 1) UPDATE pes SET pe = 3',
  ],
  'functions that do more than read': [
    'FROM enable_logging()',
    `FROM enable_logging(storage_path = '${written}')`,
    `SELECT * FROM pes, "Enable_Logging"(storage = 'file', storage_config = {'path': '${written}'})`,
    `FROM system.main.enable_profiling(save_location = '${written}', format = 'json')`,
    'FROM disable_logging()',
    'FROM truncate_duckdb_logs()',
    'FROM checkpoint()',
    'SELECT (SELECT count(*) FROM force_checkpoint())',
    'WITH a AS (FROM arrow_scan(1, 2, 3)) FROM a',
    'FROM arrow_scan_dumb(1, 2, 3)',
    'FROM enable_peg_parser()',
    "FROM query('FROM arrow_scan(1, 2, 3)')",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    `FROM read_duckdb('${secret}')`,
    "FROM sql_auto_complete('SELECT * FROM ''/')",
    'SELECT * FROM (PIVOT pes ON pe USING count(*)), arrow_scan(1, 2, 3)',
    'PIVOT pes ON pe USING count(*); DROP TABLE pes',
    'PIVOT pes ON pe USING count(*); CREATE TABLE x AS SELECT 1; SELECT 1',
    'SELECT 1; PIVOT pes ON pe USING count(*)',
    "CREATE TEMP TYPE x AS ENUM ('a'); SELECT 'pivot'",
  ],
};

/** What EXPLAIN wraps runs with ANALYZE; comments may hide where it begins. */
const WRAPPERS: readonly ((sql: string) => string)[] = [
  (sql) => `EXPLAIN ${sql}`,
  (sql) => `EXPLAIN ANALYZE ${sql}`,
  (sql) => `explain (ANALYZE, FORMAT json) ${sql}`,
  (sql) => `/* a */ EXPLAIN -- b\n ANALYZE\t${sql}`,
  (sql) => `EXPLAIN ANALYZE /* /* */ SELECT 1 -- */ ${sql}`,
  (sql) => `EXPLAIN EXPLAIN ANALYZE ${sql}`,
];

describe.each([
  ['over files', {}],
  ['over the cache', { cache }],
])('a query %s', (_, options) => {
  let recording: OpenRecording;
  let before: string;
  const state = () => readdirSync(folder, { recursive: true }).sort().join('\n');
  beforeAll(async () => {
    recording = await openRecording(path, options);
    expect(recording.notes).toEqual([]);
    before = state();
  });
  afterAll(() => recording.close());

  it.each(Object.entries(STATEMENTS))('cannot: %s', async (_kind, statements) => {
    const wrapped = statements.flatMap((sql) => WRAPPERS.map((wrap) => wrap(sql)));
    for (const sql of [...statements, ...wrapped]) {
      const error = await recording.query(sql).then(
        (rows) => new Error(`${sql}: was allowed: ${JSON.stringify(rows)}`),
        (reason: Error) => reason,
      );
      expect(error).toBeInstanceOf(QueryError);
      expect(error.message).not.toContain('\n');
      expect(error.message).not.toContain('1,secret');
    }
  });

  it('tells a PIVOT whose values are not listed from two statements', async () => {
    expect(await recording.query('PIVOT pes ON pe USING count(*) GROUP BY host')).toEqual([
      { host: 'h1', 0: 1, 1: 1 },
    ]);
    await expect(recording.query('EXPLAIN PIVOT pes ON pe USING count(*)')).rejects.toThrow(
      new QueryError('EXPLAIN of a PIVOT must list its values: PIVOT … ON column IN (…)'),
    );
  });

  it('leaves the recording, and the folders, as they were', async () => {
    expect(await recording.query('SELECT count(*) AS n FROM ross_pe')).toEqual([{ n: 1 }]);
    expect(await recording.query('SELECT count(*) AS n FROM pes')).toEqual([{ n: 2 }]);
    expect(await recording.query('SELECT count(*) AS n FROM suspect')).toEqual([{ n: 0 }]);
    expect(existsSync(written)).toBe(false);
    expect(state()).toBe(before);
    expect(readFileSync(secret, 'utf8')).toBe('a,b\n1,secret\n');
  });

  it('may be of any form that reads', async () => {
    for (const sql of [
      'SELECT 1 AS n',
      'FROM ross_pe SELECT count(*) AS n',
      'WITH a AS (SELECT 1 AS n) SELECT n FROM a;',
      'VALUES (1)',
      'DESCRIBE ross_pe',
      'SUMMARIZE ross_pe',
      'EXPLAIN SELECT * FROM ross_pe',
      'SHOW TABLES',
      'DESCRIBE SELECT * FROM pes',
      '(SELECT 1)',
      'TABLE pes',
      'UNPIVOT pes ON pe',
      'FROM range(3)',
      'FROM duckdb_tables()',
      "FROM ross_pe WHERE mode <> 'arrow_scan(1, 2, 3)'",
      'PIVOT pes ON pe IN (0, 1) USING count(*)',
      'PIVOT pes ON pe USING count(*) GROUP BY host',
      'SELECT * FROM (PIVOT pes ON host USING max(pe))',
      'WITH a AS (FROM pes) PIVOT a ON pe USING count(*);',
      'EXPLAIN ANALYZE SELECT * FROM ross_pe',
      'explain (FORMAT json) FROM pes',
      'EXPLAIN(SELECT 1)',
      'EXPLAIN /* a comment */ ANALYZE -- another\n SELECT 1',
      'EXPLAIN PIVOT pes ON pe IN (0, 1) USING count(*)',
      '-- a comment\nSELECT 1 AS n -- another',
    ]) {
      expect((await recording.query(sql)).length).toBeGreaterThan(0);
    }
  });
});

it('a query that takes longer than it may is ended, and others go on', async () => {
  const recording = await openRecording(path, { timeLimit: 2 });
  const endless =
    'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3';
  await expect(recording.query(endless)).rejects.toThrow(
    new TimeLimitError('the query was stopped after 2 s, its time limit'),
  );
  expect(await recording.query('SELECT count(*) AS n FROM ross_pe')).toEqual([{ n: 1 }]);
  await recording.close();
});

it('a query with more intermediate results than memory has goes to a temporary folder, which is removed', async () => {
  const recording = await openRecording(path, { memory: '40MB' });
  const [{ n }] = await recording.query<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT * FROM (SELECT hash(range) AS h, range::VARCHAR || 'xxxxxxxxxxxxxxxx' AS v
      FROM range(2000000)) ORDER BY h OFFSET 1)`,
  );
  expect(n).toBe(1_999_999);
  await recording.close();
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`triscope-${process.pid}-`));
  expect(left).toEqual([]);
});
