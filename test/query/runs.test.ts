/** Several recordings side by side: table `runs`, schema `every`; and what every column is. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { record } from '../../src/cli/commands/record.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { triscopeHere } from '../cli/support/run.ts';
import { folder, open, samples } from './support/opened.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const write = (name: string, words: readonly string[], seconds: number, result?: object) =>
  writeFolder(join(folder, 'runs', `${name}.tri`), {
    'recording.json': recordingOf({
      madeBy: {
        command: ['triscope', 'sim', 'run', 'phold', ...words, `--record=${name}`],
        ...{ triscope: '0.1.0', node: '20.20.2' },
      },
    }),
    'extra.frames': framesOf(batchOf(ROSS_PE, samples(seconds))),
    ...(result !== undefined && { 'sim-result.json': JSON.stringify(result) }),
  });

const PATTERN = join(folder, 'runs', '*.tri');

beforeAll(() => {
  const result = { model: 'phold', synchroniser: 'optimistic', pes: 2, kps: 32, lps: 64, end: 100 };
  write('one', ['--remote=0.5', '--batch', '8', '--pin'], 1, { ...result, wallSeconds: 2.5 });
  write('two', ['--remote=0.25', '--state=x', '--end=7'], 3);
});

async function asked(sql: string, ...paths: string[]): Promise<unknown[]> {
  const { out, err, code } = await triscopeHere(['query', ...paths, sql, '--json']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as unknown[];
}

describe('several recordings', () => {
  it('are rows of runs: state, machine, what was simulated, and each option that one was given', async () => {
    const rows = await asked('SELECT * EXCLUDE (path, command) FROM runs ORDER BY run', PATTERN);
    const both = {
      ...{ state: 'finished', started: '2026-03-01T12:00:00.000Z' },
      ...{ ended: '2026-03-01T12:00:10.000Z', error: null, triscope: '0.1.0' },
      ...{ node_version: '20.20.2', hosts: 1, host: 'h1', cpu_model: 'a CPU', cpus: 2 },
      ...{ memory: 2 ** 33, event_rate: null, net_events: null, efficiency: null },
    };
    const nothing = { model: null, synchroniser: null, pes: null, kps: null, lps: null };
    expect(rows).toEqual([
      {
        ...{ run: 'one', ...both, model: 'phold', synchroniser: 'optimistic', pes: 2, kps: 32 },
        ...{ lps: 64, end_time: 100, wall_seconds: 2.5 },
        ...{ batch: 8, end: null, pin: 'true', remote: 0.5, option_state: null },
      },
      {
        ...{ run: 'two', ...both, ...nothing, end_time: null, wall_seconds: null },
        ...{ batch: null, end: 7, pin: null, remote: 0.25, option_state: 'x' },
      },
    ]);
  });

  it('join their samples with their settings, each table of all with the run’s name', async () => {
    const sql = `SELECT remote, count(*) AS n, max(t) AS t FROM every.ross_pe JOIN runs USING (run)
      GROUP BY ALL ORDER BY remote`;
    expect(await asked(sql, PATTERN)).toEqual([
      { remote: 0.25, n: 12, t: 3 },
      { remote: 0.5, n: 4, t: 1 },
    ]);
    const [first, second] = ['one', 'two'].map((name) => join(folder, 'runs', `${name}.tri`));
    expect(await asked(sql, first)).toEqual([{ remote: 0.5, n: 4, t: 1 }]);
    const [{ file, n }] = (await asked(
      'SELECT any_value(file) AS file, count(DISTINCT run) AS n FROM every.clocks',
      ...[second, first],
    )) as { file: string; n: number }[];
    expect([file, n]).toEqual(['extra.frames', 2]);
  });

  it('are as many as a pattern stands for, in the order of their names', async () => {
    const two = join(folder, 'run?', 't*.tri');
    expect(await asked('SELECT run FROM runs', two, PATTERN)).toEqual(
      ['two', 'one', 'two_2'].map((run) => ({ run })),
    );
    // A pattern is not taken for a misspelt name.
    expect(await asked('SELECT run FROM runs', join(folder, 'runs', 'on*.tri'))).toEqual([
      { run: 'one' },
    ]);
    const none = await triscopeHere(['query', join(folder, 'x*.tri')]);
    expect([none.code, none.err]).toEqual([3, expect.stringContaining('x*.tri: ')]);
  });
});

describe('a program behind an option without a value', () => {
  it('is not taken for the value', async () => {
    const path = writeFolder(join(folder, 'flag.tri'), {
      'recording.json': recordingOf({
        madeBy: {
          command: [
            'triscope',
            'record',
            '--every',
            '2',
            '--no-node',
            '--visits',
            './solver',
            'in.txt',
          ],
          ...{ triscope: '0.1.0', node: '20.20.2' },
        },
      }),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
    });
    expect(await asked('SELECT every, no_node, visits FROM runs', path)).toEqual([
      { every: 2, no_node: 'true', visits: 'true' },
    ]);
    // Only of record may a word that is no option follow its options; these are known by their names.
    const flags = Object.entries(record.options).filter(([, { kind }]) => kind === 'bool');
    expect(
      flags.map(([name]) => name).filter((name) => !/^(no-|(?:live|visits)$)/.test(name)),
    ).toEqual([]);
  });
});

describe('a result that is a pipe', () => {
  it('is waited for by nobody', async () => {
    const path = writeFolder(join(folder, 'pipe.tri'), {
      'recording.json': recordingOf({}),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(1))),
    });
    execFileSync('mkfifo', [join(path, 'sim-result.json')]);
    expect(await asked('SELECT run, model FROM runs', path)).toEqual([
      { run: 'pipe', model: null },
    ]);
  });
});

describe('every column of every table', () => {
  it('says its unit and what it is, by DESCRIBE and as a comment', async () => {
    const path = writeFolder(join(folder, 'layers.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, samples(3))),
      'node/h1/1': rawStats(
        'h1',
        [0, 1, 2].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }, { user: 70 * s }] })),
      ),
    });
    const recording = await open(path);
    const silent = await recording.query(
      `SELECT table_name, column_name FROM duckdb_columns()
        WHERE NOT internal AND database_name = 'memory' AND coalesce(comment, '') = ''`,
    );
    expect(silent).toEqual([]);
    const comments = async (table: string) =>
      Object.fromEntries(
        (await recording.query<{ column_name: string; comment: string }>(`DESCRIBE ${table}`)).map(
          ({ column_name, comment }) => [column_name, comment],
        ),
      );
    const rates = await comments('node_cpu_rate');
    expect(Object.keys(rates).slice(0, 3)).toEqual(['t0', 't', 'host']);
    expect(rates.user).toMatch(/^cs\/s: .*, per second$/);
    expect((await comments('main."pe_on_node";')).frequency).toBe('Hz: mean of the host’s CPUs');
    expect((await comments('every.ross_pe')).events_processed).toBe(
      '{event}: events handled, those rolled back later included',
    );
  });
});
