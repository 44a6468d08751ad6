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
  'PREPARE and EXECUTE': ['PREPARE p AS SELECT 1', 'EXECUTE p'],
};

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
    for (const sql of statements) {
      const error = await recording.query(sql).then(
        (rows) => new Error(`${sql}: was allowed: ${JSON.stringify(rows)}`),
        (reason: Error) => reason,
      );
      expect(error).toBeInstanceOf(QueryError);
      expect(error.message).not.toContain('\n');
      expect(error.message).not.toContain('1,secret');
    }
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
      '-- a comment\nSELECT 1 AS n -- another',
    ]) {
      expect((await recording.query(sql)).length).toBeGreaterThan(0);
    }
  });
});

it('a query that takes longer than it may is ended, and others go on', async () => {
  const recording = await openRecording(path, { timeLimit: 0.3 });
  const endless =
    'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3';
  await expect(recording.query(endless)).rejects.toThrow(
    new TimeLimitError('the query was ended after 0.3 s, its time limit'),
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
