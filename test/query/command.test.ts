/** `triscope query` and `triscope report`, as a user calls them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { triscope, triscopeHere } from '../cli/support/run.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

const rows = [1, 2].flatMap((real_time) =>
  [0, 1].map((pe_id) => ({
    ...{ pe_id, real_time, mode: 'gvt', events_processed: 1000, total_rollbacks: 1 },
    events_rolled_back: pe_id * 400,
  })),
);
const path = writeFolder(join(folder, 'demo.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(batchOf(ROSS_PE, rows)),
  'node/h1/1': rawStats(
    'h1',
    [0, 1, 2].map((s) => ({
      time: NOON + s,
      cpus: [{ user: 100 * s }, { user: 70 * s, steal: 30 * s }],
    })),
  ),
});

const ask = (sql: string, ...more: string[]) => triscopeHere(['query', path, sql, ...more]);
const SUMS = `SELECT pe_id, mode, sum(events_processed) AS events, 1 / 3 AS third, NULL AS nothing
  FROM ross_pe GROUP BY ALL ORDER BY pe_id`;

describe('triscope query', () => {
  it('prints a table', async () => {
    const { code, out, err } = await ask(SUMS);
    expect(out).toBe(
      [
        'pe_id  mode  events     third  nothing',
        '    0  gvt     2000  0.333333',
        '    1  gvt     2000  0.333333',
        '',
      ].join('\n'),
    );
    expect([code, err]).toEqual([0, '']);
  });

  it('prints dates, times, intervals and bytes with all digits, as DuckDB does', async () => {
    const values = [
      ["TIMESTAMP '2024-01-02 03:04:05.123456'", '2024-01-02 03:04:05.123456'],
      ["'2024-01-02 03:04:05.123456789'::TIMESTAMP_NS", '2024-01-02 03:04:05.123456789'],
      ["TIMESTAMPTZ '2024-07-02 03:04:05+02'", '2024-07-02 01:04:05+00'],
      ["DATE '2024-01-02'", '2024-01-02'],
      ["'-infinity'::DATE", '-infinity'],
      ["TIME '01:02:03.5'", '01:02:03.5'],
      ["INTERVAL '1 year 3.5 seconds'", '1 year 00:00:03.5'],
      ["'ab\\x00c'::BLOB", 'ab\\x00c'],
      ["'0110'::BIT", '0110'],
    ];
    const list = values.map(([value], k) => `${value} AS v${k}`).join(', ');
    const texts = values.map(([value], k) => `(${value})::VARCHAR AS t${k}`).join(', ');
    const { out, err } = await triscope(['query', path, `SELECT ${list}, ${texts}`, '--csv'], {
      env: { TZ: 'America/New_York' },
    });
    expect(err).toBe('');
    const cells = out.split('\n')[1].split(',');
    expect(cells.slice(0, values.length)).toEqual(values.map(([, text]) => text));
    expect(cells.slice(values.length)).toEqual(cells.slice(0, values.length));
  });

  it('prints a plan as EXPLAIN draws it', async () => {
    const { out, code } = await ask('EXPLAIN SELECT 1 AS one');
    expect(code).toBe(0);
    expect(out.split('\n').length).toBeGreaterThan(5);
    expect(out.split('\n')[0]).toMatch(/^┌─+┐$/);
  });

  it('takes an empty text for neither a path nor a query', async () => {
    for (const args of [
      ['query', path, ''],
      ['query', ''],
      ['query', path, '  '],
    ]) {
      const { code, err } = await triscopeHere(args);
      expect(err).toContain('a path or query is empty');
      expect(code).toBe(2);
    }
  });

  it('changes nothing by EXPLAIN ANALYZE', async () => {
    const { code, err } = await ask('EXPLAIN ANALYZE DROP TABLE pes');
    expect(err).toBe('triscope: recordings are read-only: use SELECT, not DROP\n');
    expect(code).toBe(2);
  });

  it('prints JSON, an object a line', async () => {
    const { out } = await ask(SUMS, '--json');
    const common = { mode: 'gvt', events: 2000, third: 1 / 3, nothing: null };
    expect(JSON.parse(out)).toEqual([0, 1].map((pe_id) => ({ pe_id, ...common })));
    expect(out.split('\n')).toHaveLength(5);
    expect((await ask('SELECT 1 AS a WHERE false', '--json')).out).toBe('[]\n');
    const large = await ask(
      "SELECT 18446744073709551615::UBIGINT AS a, 'inf'::DOUBLE AS b",
      '--json',
    );
    expect(JSON.parse(large.out)).toEqual([{ a: '18446744073709551615', b: 'Infinity' }]);
  });

  it('prints CSV, all rows', async () => {
    const { out } = await ask('SELECT \'a "b", c\' AS x, NULL AS y, 2.5::DOUBLE AS z', '--csv');
    expect(out).toBe('x,y,z\n"a ""b"", c",,2.5\n');
    const many = await ask('SELECT range AS n FROM range(100000)', '--csv');
    expect(many.out.split('\n')).toHaveLength(100_002);
  });

  it('says that the text table is not all', async () => {
    const { code, out, err } = await ask('SELECT range AS n FROM range(5)', '--limit=3');
    expect([code, out]).toEqual([0, 'n\n0\n1\n2\n']);
    expect(err).toBe('triscope: the first 3 rows; --limit, --csv or --json give more\n');
    expect((await ask('SELECT range AS n FROM range(3)', '--limit', '3')).err).toBe('');
  });

  it('lists the tables where nothing is asked', async () => {
    const { out } = await triscopeHere(['query', path]);
    expect(out).toMatch(/^ross_pe +33 +one sample of a PE$/m);
    expect(out).toMatch(/^pe_on_node +27$/m);
  });

  it('has exit codes for what is wrong, and one line', async () => {
    const wrong = async (...args: string[]) => {
      const { code, out, err } = await triscopeHere(['query', ...args]);
      expect(out).toBe('');
      expect(err).toMatch(/^triscope: [^\n]*\n$/);
      return [code, err.slice('triscope: '.length, -1)];
    };
    expect(await wrong(path, 'SELECT x FROM ross_pe')).toEqual([
      2,
      expect.stringMatching(/^there is no column x/),
    ]);
    expect(await wrong(path, 'DROP VIEW ross_pe')).toEqual([
      2,
      'recordings are read-only: use SELECT, not DROP',
    ]);
    expect(await wrong(join(folder, 'none.tri'), 'SELECT 1')).toEqual([
      3,
      `${join(folder, 'none.tri')}: there is no such file or folder`,
    ]);
    expect(await wrong()).toEqual([2, expect.stringMatching(/^which recording\?/)]);
    expect(await wrong(path, 'SELECT 1', '--csv', '--json')).toEqual([
      2,
      '--json or --csv, not both',
    ]);
    expect(await wrong(path, 'SELECT 1', '--limit=x')).toEqual([
      2,
      '--limit=x: must be an integer of at least 1',
    ]);
  });

  it('keeps to the memory that it is given, within a function too', async () => {
    const asked = await ask("SELECT length(repeat('x', 1500000000))", '--memory=64MiB');
    expect(asked).toMatchObject({
      ...{ code: 1, out: '' },
      err: 'triscope: the query was stopped: it needed more memory than its limit, 64MiB; raise it with --memory, such as --memory=2GB\n',
    });
  });

  it('tells what is suspect on stderr', async () => {
    const cut = writeFolder(join(folder, 'cut.tri'), {
      'recording.json': recordingOf({ state: 'running' }),
      'extra.frames': framesOf(batchOf(ROSS_PE, rows)).subarray(0, -8),
    });
    const { code, out, err } = await triscopeHere([
      'query',
      cut,
      'SELECT count(*) AS n FROM ross_pe',
    ]);
    expect([code, out]).toEqual([0, 'n\n0\n']);
    expect(err).toMatch(/^triscope: .*: it has no end: its run was killed, or still goes on/m);
    expect(err).toMatch(
      /^triscope: extra\.frames: byte \d+: its last \d+ bytes are not a whole frame/m,
    );
  });
});

describe('triscope report', () => {
  it('prints findings, worst first, and the PEs', async () => {
    const { code, out } = await triscopeHere(['report', path]);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines[0]).toBe('demo of 2026-03-01T12:00:00.000Z');
    expect(out).toMatch(
      /^problem: PE 1 could not run for 30 % of the time .*; it rolls back 40 % of its events, the others 0 %\.$/m,
    );
    expect(out).toMatch(/^notice: 4,000 events were handled and 20 % of them rolled back/m);
    expect(out).toMatch(/^ +1 +h1 +1 +1000 +40 +70 +0 +30$/m);
  });

  it('gives JSON with the evidence', async () => {
    const { out } = await triscopeHere(['report', path, '--json']);
    const { recording, findings, pes, suspects } = JSON.parse(out);
    expect(recording).toMatchObject({ name: 'demo', state: 'finished' });
    expect(findings[0]).toMatchObject({ rule: 'stolen-cpu', severity: 'problem' });
    expect(findings[0].evidence.sql).toContain('FROM pe_on_node');
    expect(pes).toHaveLength(2);
    expect(suspects).toEqual([]);
  });

  it('shows queries and rows where evidence is wanted', async () => {
    const { out } = await triscopeHere(['report', path, '--evidence']);
    expect(out).toMatch(/^ {4}SELECT pe_id, any_value\(host\)/m);
  });
});
