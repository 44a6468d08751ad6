/** Limits of time and memory, and signals, hold whatever a query does: DuckDB runs in a process that can be ended. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filterRows, MemoryLimitError, openRecording, TimeLimitError } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { until } from '../support/until.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-limits-'));
const path = writeFolder(join(folder, 'run.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(batchOf(ROSS_PE, [{ pe_id: 0, real_time: 1, mode: 'gvt' }])),
});
const recordings = await Promise.all(
  [{ timeLimit: 2 }, { timeLimit: 60, memory: '64MiB' }].map((limits) =>
    openRecording(path, { ...limits, isolated: true }),
  ),
);
const [short, small] = recordings;
afterAll(async () => {
  await Promise.all(recordings.map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

const ENDLESS =
  'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range % 7 = 3';
/** Within a function no interrupt is seen, and no memory is counted. */
const LARGE = "SELECT length(repeat('x', 2000000000))";
const DEAF = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))";
const COUNT = 'SELECT count(*) AS n FROM ross_pe';

describe('a query with a process of its own', () => {
  it('gives what others give', async () => {
    const sql = `SELECT range::UBIGINT AS a, 'x' || range AS b, [range] AS c, NULL AS d,
      TIMESTAMP '2026-03-01' AS e FROM range(5000)`;
    const other = await openRecording(path, {});
    expect(await small.query(sql)).toEqual(await other.query(sql));
    expect(small.suspects).toEqual(other.suspects);
    await other.close();
    await expect(small.query('SELECT x FROM pes')).rejects.toThrow(
      'there is no column x at line 1, column 8',
    );
  });

  it('leaves the CPUs to others where it is in the background', async () => {
    const childrenOf = () =>
      readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
    const before = childrenOf();
    const open = await openRecording(path, { isolated: 'background' });
    const [child] = childrenOf().filter((pid) => !before.includes(pid));
    const niceOf = (pid: string, thread: string) =>
      readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1].split(' ')[16];
    const threads = (pid: string) => readdirSync(`/proc/${pid}/task`);
    expect(new Set(threads(child).map((thread) => niceOf(child, thread)))).toEqual(new Set(['10']));
    expect(niceOf(before[0], before[0])).toBe('0');
    expect(await open.query(COUNT)).toEqual([{ n: 1 }]);
    await open.close();
  });

  it('ends at its time, and others go on', async () => {
    const late = new TimeLimitError('the query was stopped after 2 s, its time limit');
    await expect(short.query(ENDLESS)).rejects.toThrow(late);
    expect(await short.query(COUNT)).toEqual([{ n: 1 }]);
  });

  it('ends at its time, within a function too: the next has a new process', async () => {
    await expect(short.query(DEAF)).rejects.toThrow(TimeLimitError);
    expect(await short.query(COUNT)).toEqual([{ n: 1 }]);
  });

  it('ends when it takes more memory than it may, and the next one has a new process', async () => {
    await expect(small.query(LARGE)).rejects.toThrow(
      new MemoryLimitError('the query was stopped: it needed more memory than its limit, 64MiB'),
    );
    expect(await small.query(COUNT)).toEqual([{ n: 1 }]);
  });

  it('may not give rows that are larger than its memory', async () => {
    const sql = "SELECT repeat('x', 10000000) || range AS a, [a] AS b FROM range(1000)";
    await expect(small.query(sql)).rejects.toThrow(/memory/i);
    expect(await small.query(COUNT)).toEqual([{ n: 1 }]);
  });

  it('gives long texts a few at a time', async () => {
    const { blocks } = await small.rows("SELECT repeat('x', 5000) || range FROM range(6000)");
    const sizes: number[] = [];
    for await (const block of blocks) sizes.push(block.length);
    expect(sizes).toEqual([2048, 2048, 1904]);
  });

  it('ends with its signal, before, while it runs, and between rows', async () => {
    await expect(
      small.query(COUNT, { signal: AbortSignal.abort(new Error('gone')) }),
    ).rejects.toThrow('gone');
    const running = new AbortController();
    const query = small.query(ENDLESS, { signal: running.signal });
    setTimeout(() => running.abort(new Error('gone')), 50);
    await expect(query).rejects.toThrow('gone');
    const between = new AbortController();
    const { blocks } = await small.rows('FROM range(1000000)', { signal: between.signal });
    await expect(
      (async () => {
        for await (const _ of blocks) between.abort(new Error('gone'));
      })(),
    ).rejects.toThrow('gone');
    expect(await small.query(COUNT)).toEqual([{ n: 1 }]);
  });

  it('leaves no folder for intermediate results once it is closed', async () => {
    await Promise.all(recordings.map((one) => one.close()));
    const left = readdirSync(tmpdir()).filter((name) =>
      name.startsWith(`triscope-${process.pid}-`),
    );
    expect(left).toEqual([]);
  });

  it('is gone with the process that asked, however that ended', async () => {
    const script = `import { openRecording } from 'triscope/query';
      const recording = await openRecording(${JSON.stringify(path)}, { isolated: true });
      process.stdout.write('open');
      await recording.query(${JSON.stringify(ENDLESS)});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const [own] = await childrenOf(child.pid ?? 0);
    expect(own).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await until(() => !isAlive(own));
  });
});

const childrenOf = (pid: number): Promise<number[]> =>
  new Promise((resolve) => {
    execFile('pgrep', ['-P', String(pid)], (_, out) => resolve(out.split(/\s+/).map(Number)));
  });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('rows in memory, chosen by a condition', () => {
  const columns = [{ name: 'a', type: 'DOUBLE' as const }];
  const rows = [[1], [2], [null]];
  const chosen = (where: string, limits = {}) => filterRows('t', columns, rows, where, limits);

  it('are the same in a process of its own', async () => {
    expect(await chosen('a > 1')).toEqual([1]);
    expect(await filterRows('t', columns, rows, 'a > 1')).toEqual([1]);
    await expect(chosen('b')).rejects.toThrow('there is no column b');
  });

  it('are none where that takes too long or nobody waits', async () => {
    const endless = `(${DEAF}) > 0`;
    await expect(chosen(endless, { timeLimit: 0.3 })).rejects.toThrow(TimeLimitError);
    const signal = AbortSignal.timeout(100);
    await expect(chosen(endless, { signal })).rejects.toThrow(signal.reason);
  });

  it('cannot change or read anything else', async () => {
    for (const where of [
      "(SELECT count(*) FROM read_text('/etc/passwd')) > 0",
      'true); DROP TABLE t; SELECT (true',
      '(SELECT count(*) FROM enable_logging()) = 0',
    ]) {
      await expect(chosen(where)).rejects.toThrow(/read-only|give one at a time/);
    }
  });
});
