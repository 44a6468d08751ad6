/** `triscope export`: what is said when something is wrong, and what is not left behind. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ExportOptions, exportRecording } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { exportCommand } from '../../dist/cli/commands/export.js';
import { callCommand } from '../../src/cli/call.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { faults } from '../formats/trace-event/rules.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from '../query/support/recording.ts';
import { folder, inFolder, small, traceFrom } from './support/export.ts';
import { triscope, triscopeHere } from './support/run.ts';

describe('what is wrong is said in a line, and nothing is left behind', () => {
  const parquet = (out: string, ...more: string[]) =>
    triscopeHere(['export', small, '--to', 'parquet', '-o', out, ...more]);
  const left = () => readdirSync(folder).filter((name) => name.includes('.part-'));

  it.each<[string, string[], number, string]>([
    ['no format', ['-o', 'x'], 2, '--to FORMAT is missing'],
    ['wrong SQL', ['--to', 'csv', '-o', 'x', '--sql', 'SELECT FROM'], 2, 'SQL:'],
    [
      'a folder that is not there',
      ['--to', 'csv', '-o', inFolder('no/x')],
      1,
      'no/x: cannot be written: its folder is not there',
    ],
  ])('%s', async (_, args, code, message) => {
    const outcome = await triscopeHere(['export', small, ...args], { cwd: folder });
    expect(outcome.err).toContain(message);
    expect([outcome.code, outcome.out, outcome.err.split('\n').length]).toEqual([code, '', 2]);
    expect([existsSync(inFolder('x')), left()]).toEqual([false, []]);
  });

  it.each<[string, string[], string]>([
    ['another format', ['--to', 'parket', '-o', 'x'], 'did you mean parquet?'],
    ['no place', ['--to', 'csv'], '-o OUT is missing'],
    ['an unknown option', ['--to', 'csv', '-o', 'x', '--tabel=a'], 'did you mean --table?'],
    [
      'an option of another format',
      ['--to', 'csv', '-o', 'x', '--no-flows'],
      '--no-flows is for trace-event',
    ],
  ])('%s', async (_, args, message) => {
    const asked = callCommand('export', exportCommand, [small, ...args]);
    await expect(asked).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, Partial<ExportOptions>, string]>([
    ['an unknown table', { tables: ['ross_p'] }, 'there is no table ross_p; did you mean ross_pe?'],
    [
      'an unknown table of samples',
      { format: 'openmetrics', tables: ['ross_p'] },
      'there is no table of samples ross_p',
    ],
    ['SQL that changes', { sql: 'DROP VIEW ross_pe' }, 'are read-only'],
    ['SQL that writes', { sql: "COPY (SELECT 1) TO '/tmp/x'" }, 'use SELECT, not COPY'],
    ['SQL of two statements', { sql: 'SELECT 1; SELECT 2' }, 'give one at a time'],
    ['SQL that breaks out', { sql: "SELECT 1) TO '/tmp/x' --" }, 'SQL:'],
    [
      'SQL that reads files',
      { sql: "FROM read_csv('/etc/passwd')" },
      'the function read_csv cannot be called',
    ],
    ['several tables in a file', {}, 'x.csv is one file, but there are several tables'],
  ])('%s', async (_, options, message) => {
    const made = exportRecording({ paths: [small], format: 'csv', ...options }, inFolder('x.csv'));
    await expect(made).rejects.toMatchObject({
      name: 'QueryError',
      message: expect.stringContaining(message),
    });
    expect([existsSync(inFolder('x.csv')), left()]).toEqual([false, []]);
  });

  it('a disk that takes no more: no file under the name', async () => {
    const rows = Array.from({ length: 8000 }, (_, k) => ({
      real_time: Math.sin(k),
      pe_id: k,
      gvt: Math.cos(k),
      mode: 'gvt',
    }));
    const large = writeFolder(inFolder('large.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, rows)),
    });
    const bin = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
    const fill = async (format: string, name: string) => {
      const table = format === 'trace-event' ? [] : ['--table', 'ross_pe'];
      const words = [
        process.execPath,
        bin,
        'export',
        large,
        '--to',
        format,
        '-o',
        inFolder(name),
        ...table,
      ];
      // 64 blocks of 1 KB.
      const child = spawn('bash', ['-c', 'ulimit -f 64; exec "$@"', 'bash', ...words]);
      let err = '';
      child.stderr.on('data', (data) => {
        err += data;
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(err).toBe(
        `triscope: ${inFolder(name)}: cannot be written: it would be larger than a file may be here (ulimit -f)\n`,
      );
      expect([code, existsSync(inFolder(name))]).toEqual([1, false]);
    };
    await Promise.all([
      fill('parquet', 'full.parquet'),
      fill('csv', 'full.csv'),
      fill('arrow', 'full.arrow'),
      fill('trace-event', 'full.json.gz'),
    ]);
    expect(left()).toEqual([]);
  });

  it('a folder where nobody may write', async () => {
    // Not even root may in the kernel's own folder.
    const { code, err } = await parquet('/sys/x');
    expect([code, err.includes('this user may not write there')]).toEqual([1, true]);
  });

  it('a folder with files in it, a device', async () => {
    mkdirSync(inFolder('used/deep'), { recursive: true });
    const used = await parquet(inFolder('used'));
    expect([used.code, used.err.includes('choose another name')]).toEqual([1, true]);
    const device = await parquet('/dev/null', '--table', 'pes');
    expect([device.code, device.err.includes('not a regular file')]).toEqual([1, true]);
  });

  it('an old file is replaced, and stays where the new one fails', async () => {
    writeFileSync(inFolder('old.parquet'), 'old');
    expect((await parquet(inFolder('old.parquet'), '--table', 'nothing')).code).toBe(2);
    expect(readFileSync(inFolder('old.parquet'), 'utf8')).toBe('old');
    expect((await parquet(inFolder('old.parquet'), '--table', 'pes')).code).toBe(0);
    expect(readFileSync(inFolder('old.parquet')).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('a recording without samples gives tables without rows, and an empty trace', async () => {
    const empty = writeFolder(inFolder('empty.tri'), {
      'recording.json': recordingOf({ pes: [] }),
    });
    const trace = await triscopeHere([
      'export',
      empty,
      '--to',
      'trace-event',
      '-o',
      inFolder('empty.json'),
      '--json',
    ]);
    expect([trace.code, faults(traceFrom(inFolder('empty.json')))]).toEqual([0, []]);
    const tables = await triscopeHere([
      'export',
      empty,
      '--to',
      'csv',
      '-o',
      '-',
      '--table',
      'pes',
    ]);
    expect([tables.code, tables.out]).toEqual([0, 'pe,rank,host,cpu,thread_id\n']);
    expect(tables.err).toContain('there are no rows');
  });

  it('a recording that is still being written is exported up to here, and told', async () => {
    const running = writeFolder(inFolder('running.tri'), {
      'recording.json': recordingOf({ state: 'running' }),
      'extra.frames': framesOf(
        batchOf(ROSS_PE, [{ real_time: 1, pe_id: 0, mode: 'gvt' }]),
      ).subarray(0, -8),
    });
    const { code, err } = await triscopeHere([
      'export',
      running,
      '--to',
      'parquet',
      '-o',
      inFolder('running'),
    ]);
    expect(code).toBe(0);
    expect(err).toContain('still being written: exported up to here');
    expect(err).toContain('not a whole frame');
  });

  it('an interrupt leaves nothing', async () => {
    const outcome = await triscope(
      [
        'export',
        small,
        '--to',
        'csv',
        '-o',
        inFolder('cut'),
        '--sql',
        'SELECT count(*) FROM range(20000) a, range(20000) b, range(20000) c',
      ],
      {
        meanwhile: (child) => {
          const timer = setInterval(() => {
            if (left().length === 0) return;
            clearInterval(timer);
            setTimeout(() => child.kill('SIGINT'), 500);
          }, 20);
        },
      },
    );
    expect([outcome.code, existsSync(inFolder('cut')), left()]).toEqual([130, false, []]);
    // On a busy machine DuckDB hears of it too late.
    expect(outcome.err).toMatch(
      /^triscope: (interrupted; nothing was written|ended: it had not stopped 1\.5 s after the signal)\n$/,
    );
  });
});
