/** What the API gives, beside series: its own documentation, SQL, findings, several recordings, other formats. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/live/api/index.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { triscope } from '../cli/support/run.ts';
import { ask, json, query } from './support/ask.ts';
import { batch, peRow, rawText, recording } from './support/samples.ts';

/** PE 1 undoes half of what it handles. */
const slow = (k: number, pe: number) => ({
  ...peRow(k, pe),
  events_rolled_back: pe === 0 ? 0 : 250,
});

const folder = recording();
const archive = mkdtempSync(join(tmpdir(), 'triscope-archive-'));
let server: LiveServer;

beforeAll(async () => {
  writeFileSync(join(archive, '1795245576'), rawText());
  server = await startServer({ recordings: [folder, archive, folder] });
});
afterAll(() => server.close());

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  readonly summary: string;
  readonly parameters: readonly { name: string; required: boolean; schema: { type: string } }[];
  readonly responses: Record<string, { content: Record<string, unknown> }>;
}

describe('/api/openapi.json', () => {
  it('has every route, and no other', async () => {
    const { openapi, paths } = await json<Document>(server.port, '/api/openapi.json');
    expect(openapi).toBe('3.1.0');
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const own = ['get /api/openapi.json', 'get /live', 'get /live/events', 'get /metrics'];
    const routes = ROUTES.map(({ method, path }) => `${method} /api${path}`);
    expect(documented.sort()).toEqual([...routes, ...own].sort());
  });

  it('documents routes that answer: with data, or with a line that says what they lack', async () => {
    const { paths } = await json<Document>(server.port, '/api/openapi.json');
    for (const [path, { get }] of Object.entries(paths)) {
      if (get === undefined || path.startsWith('/live')) continue;
      const { status, headers, body } = await ask(server.port, path);
      expect([path, [200, 400, 404, 409].includes(status)]).toEqual([path, true]);
      const type = String(headers['content-type']).split(';')[0];
      if (status === 200) expect(Object.keys(get.responses[200].content)).toContain(type);
      else expect(JSON.parse(String(body)).error).toMatch(/\S/);
      const wants = get.parameters.some(({ required }) => required);
      if (wants) expect([path, status >= 400]).toEqual([path, true]);
    }
  });
});

describe('several recordings', () => {
  it('are listed, each under a name of its own', async () => {
    const all = await json<{ id: string; title: string }[]>(server.port, '/api/recordings');
    const name = archive.split('/').pop();
    expect(all.map(({ id }) => id)).toEqual(['made', name, 'made-2']);
  });

  it('are asked for by name; the first where none is given', async () => {
    const tables = async (query: string) =>
      (await json<{ name: string }[]>(server.port, `/api/tables${query}`)).map(({ name }) => name);
    expect(await tables('')).toEqual(['ross_pe', 'node_cpu']);
    expect(await tables('?recording=made-2')).toEqual(['ross_pe', 'node_cpu']);
    expect(await tables(`?recording=${archive.split('/').pop()}`)).toEqual(['node_cpu']);
    const { status, body } = await ask(server.port, '/api/tables?recording=other');
    expect([status, String(body)]).toEqual([404, expect.stringContaining('see /api/recordings')]);
  });
});

describe('POST /api/query', () => {
  it('answers a SELECT: columns, rows, and whether there are more', async () => {
    const sql = 'SELECT pe_id, sum(events_processed) AS n FROM ross_pe GROUP BY ALL ORDER BY ALL';
    expect(await query(server.port, { sql })).toEqual({
      status: 200,
      columns: [
        { name: 'pe_id', type: 'UINTEGER' },
        { name: 'n', type: 'HUGEINT' },
      ],
      rows: [
        [0, 10_000],
        [1, 5000],
      ],
      more: false,
    });
    expect(await query(server.port, { sql, limit: 1 })).toMatchObject({
      rows: [[0, 10_000]],
      more: true,
    });
  });

  it('gives integers that no number holds as text', async () => {
    const sql = 'SELECT 18446744073709551615::UBIGINT AS a, 9007199254740991 AS b, NULL AS c';
    expect((await query(server.port, { sql })).rows).toEqual([
      ['18446744073709551615', 9007199254740991, null],
    ]);
  });

  it.each([
    ['DROP VIEW ross_pe', 'read-only'],
    ['CREATE TABLE a AS SELECT 1', 'read-only'],
    ['INSERT INTO pes VALUES (1, 1, NULL, 1, 1)', 'read-only'],
    ['DELETE FROM pes', 'read-only'],
    ['EXPLAIN ANALYZE DROP TABLE pes', 'read-only'],
    ['EXPLAIN ANALYZE UPDATE pes SET pe = 1', 'read-only'],
    ['EXPLAIN ANALYZE CREATE OR REPLACE VIEW ross_pe AS SELECT 1', 'read-only'],
    ['SELECT * FROM enable_logging()', 'read-only'],
    ["COPY pes TO '/tmp/out.csv'", 'read-only'],
    ["ATTACH '/tmp/a.db'", 'read-only'],
    ['SET threads = 1', 'read-only'],
    ['INSTALL httpfs', 'read-only'],
    ['PRAGMA threads = 1', 'read-only'],
    ['SELECT 1; SELECT 2', 'give one at a time'],
    ["SELECT * FROM read_csv('/etc/passwd')", 'read-only'],
    ["SELECT * FROM read_text('/etc/passwd')", 'read-only'],
    ["SELECT * FROM '/etc/passwd'", 'there is no table /etc/passwd'],
    ["SELECT * FROM glob('/*')", 'read-only'],
    ['SELECT * FROM nothing', 'there is no table nothing'],
    ['SELEC 1', 'syntax error'],
    ['', 'the field sql is missing'],
  ])('refuses %s: %s', async (sql, expected) => {
    const { status, error } = await query(server.port, { sql });
    expect(status).toBe(400);
    expect(error).toContain(expected);
    expect(error.split('\n')).toHaveLength(1);
    expect(existsSync('/tmp/out.csv')).toBe(false);
  });

  it('takes nothing but JSON that asks for something', async () => {
    const post = (body: string, type = 'application/json') =>
      ask(server.port, '/api/query', { method: 'POST', headers: { 'Content-Type': type }, body });
    expect((await post('{"sql": "SELECT 1"}', 'text/plain')).status).toBe(415);
    expect((await post('sql=SELECT 1')).status).toBe(400);
    expect((await post('null')).status).toBe(400);
    expect((await post('{"sql": 1}')).status).toBe(400);
    expect((await post('{"sql": "SELECT 1", "limit": 1e9}')).status).toBe(400);
    expect((await post(JSON.stringify({ sql: ` ${'-'.repeat(30_000)}` }))).status).toBe(413);
  });
});

describe('/api/findings', () => {
  it('gives findings with their evidence', async () => {
    const findings = await json<{ rule: string; sentence: string; evidence: { sql: string } }[]>(
      server.port,
      '/api/findings',
    );
    expect(findings.length).toBeGreaterThan(0);
    for (const { rule, sentence } of findings) expect([rule, sentence]).not.toContain('');
  });

  it('gives those of a run that nobody records, by what has streamed', async () => {
    const bus = new LiveBus({ title: 'a run', zero: '1795245576000000000' });
    const live = await startServer({ bus });
    const handled = async () =>
      (await query(live.port, { sql: 'SELECT sum(events_processed)::INT AS n FROM ross_pe' }))
        .rows[0][0];
    for (let k = 0; k < 10; k++) bus.publish(batch(ROSS_PE, [slow(k, 0), slow(k, 1)]));
    const findings = await json<{ rule: string; sentence: string }[]>(live.port, '/api/findings');
    expect(findings.find(({ rule }) => rule === 'efficiency')?.sentence).toContain('PE 1');
    expect(await handled()).toBe(15_000);
    const { tables } = await json<{ tables: string[] }>(live.port, '/api/facts');
    expect(tables).toContain('ross_pe');
    await live.close();
  });
});

describe('/metrics', () => {
  it('is OpenMetrics of the server and its recordings', async () => {
    const { body, headers } = await ask(server.port, '/metrics');
    expect(headers['content-type']).toContain('application/openmetrics-text');
    const text = String(body);
    expect(text).toContain('triscope_followers 0');
    expect(text).toContain('triscope_recording_live{recording="made"} 0');
    const rate = /triscope_pe_events_per_second\{recording="made",pe="0"\} (\S+)/.exec(text)?.[1];
    expect(Number(rate)).toBeCloseTo(10_000, 1);
    expect(text.endsWith('# EOF\n')).toBe(true);
  });
});

const GOLDEN = process.env.TRISCOPE_GOLDEN;

describe.skipIf(GOLDEN === undefined)('genuine files (TRISCOPE_GOLDEN)', () => {
  it('of all three systems are shown, with what is doubtful in them', async () => {
    const paths = ['ross/v8-opt2-gvt-all', 'tacc_stats/genuine_job20', 'geopm/real-run'];
    const golden = await startServer({ recordings: paths.map((path) => join(GOLDEN ?? '', path)) });
    const names = async (id: string) =>
      (await json<{ name: string }[]>(golden.port, `/api/tables?recording=${id}`)).map(
        ({ name }) => name,
      );
    expect(await names('v8-opt2-gvt-all')).toEqual(['ross_pe', 'ross_kp', 'ross_lp']);
    expect(await names('genuine_job20')).toContain('node_cpu');
    expect(await names('real-run')).toContain('geopm_trace');
    const { notes } = await json<{ notes: string[] }>(golden.port, '/api/facts?recording=real-run');
    expect(notes.join()).toContain('a name with quotes that are not escaped');
    const { rows } = await query(golden.port, { sql: 'SELECT count(*) FROM ross_pe' });
    const [pe] = await json<{ rows: number }[]>(golden.port, '/api/tables');
    expect(pe.rows).toBe(rows[0][0]);
    await golden.close();
  });
});

describe('triscope serve', () => {
  it('takes several paths', async () => {
    const outcome = await triscope(['serve', folder, archive, '--json'], {
      meanwhile: (child) => {
        child.stdout?.once('data', async (line: Buffer) => {
          const { port } = JSON.parse(String(line));
          expect(await json<unknown[]>(port, '/api/recordings')).toHaveLength(2);
          child.kill('SIGINT');
        });
      },
    });
    expect(outcome.code).toBe(0);
  });
});
