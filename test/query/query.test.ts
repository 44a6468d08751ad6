/** Queries over recordings, and what is said of those that cannot be. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, type OpenRecording, openRecording, QueryError } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { folder, fresh, open, samples } from './support/opened.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

describe.skipIf(!GOLDEN)('files of ROSS (needs TRISCOPE_GOLDEN)', () => {
  const run = join(GOLDEN ?? '', 'ross', 'm-opt2-everything');
  const totals = `SELECT mode, count(*) AS records, sum(events_processed) AS processed,
    sum(events_rolled_back) AS rolled_back FROM ross_pe GROUP BY mode ORDER BY mode`;

  it('are tables, with the numbers of their manifest', async () => {
    const { files } = JSON.parse(readFileSync(join(run, 'manifest.json'), 'utf8'));
    const expected = Object.entries({ gvt: 'gvt', rt: 'rt', vt: 'analysis-lps' }).map(
      ([mode, name]) => {
        const { records, PE_sums: sums } = files[`run1-${name}.bin`].facts;
        return { mode, records, processed: sums.nproc, rolled_back: sums.nrb };
      },
    );
    const recording = await open(run);
    expect(await recording.query(totals)).toEqual(expected);
    const { records, sum_src } = files['run1-evtrace.bin'].facts;
    expect(
      await recording.query('SELECT count(*) AS n, sum(source_lp) AS sum_src FROM ross_event'),
    ).toEqual([{ n: records, sum_src }]);
  });

  it('give way to frames, which hold the same in double precision', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
      'stats-output/run1-gvt.bin': readFileSync(join(run, 'run1-gvt.bin')),
      'stats-output/run1-evtrace.bin': readFileSync(join(run, 'run1-evtrace.bin')),
    });
    const recording = await open(path);
    expect(await recording.query(totals)).toEqual([
      { mode: 'gvt', records: 4, processed: 400, rolled_back: 120 },
    ]);
    expect(await recording.query('SELECT count(*) AS n FROM ross_event')).toEqual([{ n: 1645 }]);
  });
});

describe('several recordings', () => {
  it('are schemas by their names; the first is meant without one', async () => {
    const [a, b] = [1, 2].map((seconds) =>
      writeFolder(fresh(), {
        'recording.json': recordingOf(),
        'extra.frames': framesOf(batchOf(ROSS_PE, samples(seconds))),
      }),
    );
    const recording = await open(a, b);
    expect(recording.names).toEqual(['run', 'run_2']);
    expect(
      await recording.query(`SELECT (SELECT count(*) FROM ross_pe) AS plain,
        (SELECT count(*) FROM run.ross_pe) AS a, (SELECT count(*) FROM run_2.ross_pe) AS b`),
    ).toEqual([{ plain: 4, a: 4, b: 8 }]);
  });
});

describe('a query', () => {
  let recording: OpenRecording;
  const opening = async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
    });
    recording = await open(path);
    return path;
  };
  const refused = async (sql: string): Promise<string> => {
    const error = await recording.query(sql).then(
      () => new Error(`${sql}: was allowed`),
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(QueryError);
    expect(error.message).not.toContain('\n');
    return error.message;
  };

  it('that is wrong gives one line that helps', async () => {
    await opening();
    expect(await refused('SELECT * FROM ros_pe')).toMatch(
      /^there is no table ros_pe at line 1, column 15; did you mean ross_pe\? tables: clocks, entities, /,
    );
    expect(await refused('SELECT event_processed FROM ross_pe')).toMatch(
      /^there is no column event_processed at line 1, column 8; did you mean .*events_processed/,
    );
    expect(await refused('SELECT r.stat FROM runs r')).toMatch(
      /^there is no column stat at line 1, column 8; did you mean state\b/,
    );
    expect(await refused('SELEC 1')).toBe(
      'SQL: syntax error at or near "SELEC" at line 1, column 1',
    );
    expect(await refused('SELECT 1,\n  2,\n  sqrrt(3)')).toMatch(/sqrrt.* at line 3, column 3$/);
    const long = `SELECT ${'pe_id + '.repeat(50)}nothing FROM ross_pe`;
    expect(await refused(long)).toMatch(
      new RegExp(`^there is no column nothing at line 1, column ${long.indexOf('nothing') + 1}`),
    );
    expect(await refused("SELECT 'a'::INTEGER")).toMatch(/^SQL: Could not convert string 'a'/);
    expect(await refused('SELECT 1; SELECT 2')).toBe('there are 2 statements: give one at a time');
    expect(await refused('')).toBe('the query is empty');
  });
});

describe('what cannot be opened', () => {
  const message = (path: string) =>
    openRecording(path).then(
      () => 'opened',
      (error: Error) => `${error instanceof InputError} ${error.message}`,
    );

  it('is named with the reason', async () => {
    expect(await message('/nowhere/at.tri')).toBe(
      'true /nowhere/at.tri: there is no such file or folder',
    );
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    expect(await message(empty)).toMatch(
      /^true .*empty: nothing in it has a format that can be queried$/,
    );
    const bad = writeFolder(fresh(), { 'recording.json': '{"version": 1' });
    expect(await message(bad)).toMatch(/^true .*recording\.json: not JSON: /);
    const newer = writeFolder(fresh(), { 'recording.json': '{"version": 99}' });
    expect(await message(newer)).toMatch(
      /has version 99; this triscope reads up to 1: use a newer one$/,
    );
    const text = join(folder, 'text.txt');
    writeFileSync(text, 'hello');
    expect(await message(text)).toMatch(/^true .*text\.txt: nothing in it/);
  });
});
