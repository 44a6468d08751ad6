/** `triscope node daemon`, as an init system runs it. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readFile, treeOf } from '../node/support/raw.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from './support/run.ts';

const here = temporaryFolder();
const BIN = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
const running: ChildProcess[] = [];
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  execFileSync('rm', ['-rf', here]);
});

let folders = 0;
function newDaemon(words: readonly string[], setup = '') {
  const dir = join(here, `log${folders++}`);
  const jobid = `${dir}.jobid`;
  return {
    dir,
    jobid,
    current: () => readFile(join(dir, 'current')),
    groups: () => (existsSync(join(dir, 'current')) ? readFile(join(dir, 'current')).groups : []),
    start: () => {
      const command = `${setup} exec "${process.execPath}" "${BIN}" node daemon "$@"`;
      const all = ['--dir', dir, '--jobid-file', jobid, ...words];
      const child = spawn('bash', ['-c', command, 'bash', ...all], {
        env: { ...process.env, SLURM_JOB_ID: '' },
      });
      running.push(child);
      const said = { err: '' };
      child.stderr.on('data', (data) => {
        said.err += data;
      });
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      return { child, said, ended };
    },
  };
}

describe.skipIf(process.platform !== 'linux')('the daemon', () => {
  it('samples at even times, and once more when it is told to end', async () => {
    const daemon = newDaemon(['--freq', '0.2', '--raw-version', '2']);
    const { child, ended, said } = daemon.start();
    await until(() => daemon.groups().length >= 3);
    expect(readFileSync(join(daemon.dir, 'daemon.pid'), 'utf8')).toBe(`${child.pid}\n`);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said.err).toMatch(/^triscope: \d+ samples.*\n$/);
    expect(existsSync(join(daemon.dir, 'daemon.pid'))).toBe(false);
    const { groups, problems } = daemon.current();
    expect(problems).toEqual([]);
    const times = groups.map(({ time }) => Number(time));
    // Never early, but for the time that one took to begin; the first and the last are no even ones.
    const even = times.slice(1, -1);
    const early = even.filter((time, k) => time - even[0] < 0.2 * k - 0.15);
    expect(early).toEqual([]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  // The others mostly wait, so together.
  it.concurrent('ends a job and begins the next when the job-id file changes', async () => {
    const daemon = newDaemon(['--freq', '600']);
    const { child, ended } = daemon.start();
    const marks = () => daemon.groups().map(({ jobs, marks }) => [jobs, ...marks]);
    const setJob = (ids: string) => {
      writeFileSync(`${daemon.jobid}.new`, `${ids}\n`);
      renameSync(`${daemon.jobid}.new`, daemon.jobid);
    };
    await until(() => marks().length === 1);
    setJob('9001');
    await until(() => marks().length === 2);
    setJob('9002');
    await until(() => marks().length === 4);
    setJob('9002,9003');
    await until(() => marks().length === 5);
    setJob('-');
    await until(() => marks().length === 7);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(marks()).toEqual([
      ['-'],
      ['9001', 'begin 9001'],
      ['9001', 'end 9001'],
      ['9002', 'begin 9002'],
      ['9002,9003', 'begin 9003'],
      ['9002,9003', 'end 9002'],
      ['9003', 'end 9003'],
      ['-'],
    ]);
  });

  it.concurrent('reads its configuration again on SIGHUP, and keeps the old one where that is wrong', async () => {
    const config = join(here, 'conf');
    writeFileSync(config, 'freq 600\n');
    const daemon = newDaemon(['--config', config]);
    const { child, ended, said } = daemon.start();
    await until(() => daemon.groups().length === 1);
    writeFileSync(config, 'freq: never\n');
    child.kill('SIGHUP');
    await until(() => said.err.includes('line 1: freq never'));
    writeFileSync(config, 'freq 0.1\n');
    child.kill('SIGHUP');
    await until(() => daemon.groups().length >= 4);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(daemon.current().problems).toEqual([]);
  });

  it.concurrent('is alone on its log', async () => {
    const daemon = newDaemon(['--freq', '600']);
    const first = daemon.start();
    await until(() => daemon.groups().length === 1);
    const second = daemon.start();
    expect(await second.ended).toBe(1);
    expect(second.said.err).toMatch(
      /^triscope: .*daemon\.pid: a daemon is already running, with pid \d+\n$/,
    );
    first.child.kill('SIGKILL');
    await first.ended;
    // Its lock went with it.
    const third = daemon.start();
    await until(() => daemon.groups().length >= 2);
    third.child.kill('SIGTERM');
    expect(await third.ended).toBe(0);
  });

  it.concurrent('begins another file when the old one is old enough', async () => {
    const daemon = newDaemon([
      '--freq',
      '0.3',
      '--rotate',
      '1',
      '--count',
      '10',
      '--raw-version=2',
    ]);
    expect(await daemon.start().ended).toBe(0);
    const files = readdirSync(daemon.dir).filter((name) => /^\d+$/.test(name));
    expect(files.length).toBeGreaterThan(1);
    const all = files.map((name) => readFile(join(daemon.dir, name)));
    expect(all.flatMap(({ problems }) => problems)).toEqual([]);
    expect(all.flatMap(({ groups }) => groups)).toHaveLength(10);
    expect(all.slice(1).every(({ groups }) => groups[0].marks[0] === 'rotate -')).toBe(true);
  });

  it.skipIf(spawnSync('prlimit', ['--version']).error !== undefined)(
    'keeps samples while the disk is full, says so once, and writes them later',
    { concurrent: true },
    async () => {
      const tree = treeOf(join(here, 'tree'), 8);
      const words = ['--freq', '0.1', '--raw-version', '2', '--root', tree, '--type.cpu'];
      const daemon = newDaemon(words, 'ulimit -S -f 4;');
      const { child, said, ended } = daemon.start();
      await until(() => said.err.includes('kept in memory'));
      const { size } = statSync(join(daemon.dir, 'current'));
      const before = daemon.groups().length;
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(statSync(join(daemon.dir, 'current')).size).toBe(size);
      expect(daemon.current().problems).toEqual([]);
      execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=100000000:']);
      await until(() => daemon.groups().length > before + 5);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(said.err.match(/kept in memory/g)).toHaveLength(1);
      expect(said.err).toMatch(/the log: works again\n/);
      const { groups, problems } = daemon.current();
      expect(problems).toEqual([]);
      const count = Number(/(\d+) samples/.exec(said.err)?.[1]);
      expect(groups).toHaveLength(count);
      const times = groups.map(({ time }) => Number(time));
      expect(times).toEqual([...times].sort((a, b) => a - b));
    },
  );
});
