/** Own files, views and macros in queries: what they add, and that they open nothing else. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportRecording, openRecording, QueryError, statementsOf } from 'triscope/query';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { triscope, triscopeHere } from '../cli/support/run.ts';
import { folder, open, samples } from './support/opened.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const run = writeFolder(join(folder, 'own.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
});
const inFolder = (name: string) => join(folder, name);
const ask = (...words: string[]) => triscopeHere(['query', run, '--json', ...words]);

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(inFolder('hosts.csv'), 'pe_id,rack\n0,a\n1,b\n');
  writeFileSync(inFolder('secret.csv'), 'secret\n42\n');
});

describe('a script', () => {
  it('is cut at semicolons outside of texts, names and comments, and keeps its places', () => {
    const script = `-- a; b
SELECT ';' AS ";", $$;$$ /* ; */; ;
 CREATE VIEW v AS SELECT e'\\';' ; FROM v -- the end;`;
    expect(statementsOf(script)).toEqual([
      { sql: `\nSELECT ';' AS ";", $$;$$ /* ; */`, defines: false },
      { sql: `\n\n CREATE VIEW v AS SELECT e'\\';' `, defines: true },
      { sql: `${'\n\n'}${' '.repeat(34)}FROM v -- the end;`, defines: false },
    ]);
  });

  it('defines views and macros, from a file and in the query, and answers each statement', async () => {
    writeFileSync(
      inFolder('views.sql'),
      `CREATE VIEW undone AS SELECT pe_id, sum(events_rolled_back)::INTEGER AS n FROM ross_pe GROUP BY ALL;
CREATE OR REPLACE MACRO share(x) AS round(100 * x, 1);
CREATE MACRO worst(k := 1) AS TABLE SELECT * FROM undone ORDER BY n DESC LIMIT k;`,
    );
    const { code, out, err } = await ask(
      '-f',
      inFolder('views.sql'),
      'FROM worst(); CREATE TEMP VIEW best AS FROM undone ORDER BY n LIMIT 1; SELECT n, share(n / 200)::DOUBLE AS "%" FROM best',
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe('[\n{"pe_id":1,"n":100}\n]\n[\n{"n":20,"%":10}\n]\n');
  });

  it('says file, line and column of what is wrong, and wants a query', async () => {
    writeFileSync(inFolder('wrong.sql'), 'CREATE VIEW a AS\n  SELECT nix FROM ross_pe;\nFROM a');
    const wrong = await ask('-f', inFolder('wrong.sql'));
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/^triscope: .*wrong\.sql: there is no column nix at line 2, column 10/),
    ]);
    const none = await ask('CREATE VIEW a AS SELECT 1');
    expect([none.code, none.err]).toEqual([
      2,
      'triscope: views and macros alone give no result: add a query\n',
    ]);
    expect((await ask('')).code).toBe(2);
  });

  it('comes on standard input', async () => {
    const words = ['query', run, '--csv', '-'];
    const { out } = await triscope(words, { input: 'SELECT 1 AS a;\nSELECT 2 AS b;\n' });
    expect(out).toBe('a\n1\n\nb\n2\n');
  });

  it('does not go beyond the recording', async () => {
    const recording = await open(run);
    for (const [sql, why] of [
      ["CREATE VIEW a AS FROM read_text('SECRET')", /read_text cannot be called/],
      ["CREATE VIEW a AS FROM 'SECRET'", /file system operations are disabled|Permission/],
      ["CREATE MACRO a() AS TABLE FROM read_csv('SECRET')", /read_csv cannot be called/],
      ["CREATE MACRO a() AS (SELECT max(secret) FROM read_csv('SECRET'))", /cannot be called/],
      ["CREATE MACRO a() AS 1) FROM read_csv('SECRET'), (SELECT 1", /cannot be called/],
      [
        "CREATE MACRO a(x := current_setting('threads')) AS x",
        /the only things that a query may create/,
      ],
      ['CREATE MACRO read_csv(a) AS TABLE SELECT 1', /DuckDB has a function of that name/],
      ['CREATE MACRO a(x) AS TABLE FROM query(x)', /query cannot be called/],
      ['CREATE TABLE a AS SELECT 1', /the only things that a query may create/],
      ['CREATE VIEW a AS DELETE FROM pes', /read-only: use SELECT, not DELETE/],
      ['CREATE VIEW main.a AS SELECT 1', /the only things that a query may create/],
      ["COPY pes TO 'SECRET'", /the only things that a query may create/],
    ] as const) {
      const define = [sql.replace('SECRET', inFolder('secret.csv'))];
      await expect(recording.query('FROM a', { define }), sql).rejects.toThrow(why);
    }
    const wrong = await ask('SET threads = 1; SELECT 1');
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining('read-only: use SELECT, not SET'),
    ]);
  });

  it('defines for one query alone', async () => {
    const recording = await open(run);
    const define = ['CREATE VIEW a AS SELECT 1 AS one'];
    expect(await recording.query('FROM a', { define })).toEqual([{ one: 1 }]);
    await expect(recording.query('FROM a')).rejects.toThrow(QueryError);
  });
});

describe('own files', () => {
  it('are tables: CSV and Parquet, by what they hold', async () => {
    const parquet = inFolder('pe.parquet');
    await exportRecording({ paths: [run], format: 'parquet', tables: ['ross_pe'] }, parquet);
    const files = { rack: inFolder('hosts.csv'), before: parquet };
    const recording = await openRecording([run], { files });
    const rows = await recording.query(
      'SELECT rack, sum(events_processed)::INTEGER AS n FROM before JOIN rack USING (pe_id) GROUP BY ALL ORDER BY 1',
    );
    expect(rows).toEqual([
      { rack: 'a', n: 200 },
      { rack: 'b', n: 200 },
    ]);
    await recording.close();
  });

  it('are all that can be read, beside the recording, by whatever words', async () => {
    const files = { rack: inFolder('hosts.csv') };
    const recording = await openRecording([run], { files });
    expect(await recording.query('SELECT count(*) AS n FROM rack')).toEqual([{ n: 2 }]);
    for (const from of [
      `'${inFolder('secret.csv')}'`,
      `'${inFolder('*.csv')}'`,
      `'${inFolder('./x/../secret.csv')}'`,
      `read_csv('${inFolder('hosts.csv')}')`,
    ]) {
      await expect(recording.query(`FROM ${from}`), from).rejects.toThrow(QueryError);
    }
    await recording.close();
    const { out } = await ask(
      '--with',
      `rack=${inFolder('hosts.csv')}`,
      'SELECT count(*) FROM rack',
    );
    expect(out).toContain(':2}');
  });

  it.each([
    [['ross_pe=hosts.csv'], 2, /ross_pe: the recording already has a table of that name/],
    [['a=host.csv'], 3, /host\.csv: there is no such file or folder; did you mean .*hosts\.csv\?/],
    [['a=own.tri'], 3, /own\.tri: is not a file/],
    [['a=*.csv'], 3, /no such file/],
    [['a b=hosts.csv'], 2, /--with a b=.*: must be NAME=FILE/],
    [['hosts.csv'], 2, /must be NAME=FILE/],
  ])('%j is refused', async (given, exit, why) => {
    const words = given.flatMap((one) => ['--with', one.replace(/([^=]+)$/, inFolder('$1'))]);
    const { code, err } = await ask(...words, 'SELECT 1');
    expect(err).toMatch(why);
    expect(code).toBe(exit);
  });
});
