/** `triscope node begin|end|collect|mark|rotate|archive`, as a scheduler and cron call them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readFile } from '../node/support/raw.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const here = temporaryFolder();
afterAll(() => execFileSync('rm', ['-rf', here]));

const BIN = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
const ENV = { SLURM_JOB_ID: '' };

let folders = 0;
function newLog() {
  const dir = join(here, `log${folders++}`);
  const jobid = `${dir}.jobid`;
  const node = async (...words: string[]) =>
    await triscope(['node', ...words, '--jobid-file', jobid], {
      env: { ...ENV, TRISCOPE_NODE_DIR: dir },
    });
  return { dir, jobid, node, current: () => readFile(join(dir, 'current')) };
}

const filesOf = (folder: string) => readdirSync(folder).filter((name) => /^\d+$/.test(name));

const GOLDEN = process.env.TRISCOPE_GOLDEN;

describe.skipIf(GOLDEN === undefined)('--program-pmc', () => {
  it('sets counters at begin, and gives the registers back what they held at the last end', async () => {
    const at = join(GOLDEN ?? '', 'tacc_stats', 'fixture_snb_v2.3.0');
    const trees = join(here, 'trees');
    mkdirSync(trees);
    execFileSync('tar', ['-xzf', join(at, 'trees.tar.gz'), '-C', trees]);
    const { node, current, dir } = newLog();
    const cpus = [0, 1, 2, 3].map(
      (k) => `processor: ${k}\nvendor_id: GenuineIntel\ncpu family: 6\nmodel: 45\n`,
    );
    writeFileSync(join(trees, 'tree0', 'proc', 'cpuinfo'), cpus.join('\n'));
    const words = ['--root', join(trees, 'tree0'), '--dir', dir, '--type.intel_snb'];
    cpSync(join(trees, 'tree0'), join(trees, 'before'), { recursive: true });
    const plain = await node('begin', '1', ...words);
    expect(plain.err).toBe('');
    expect(readdirSync(dir)).not.toContain('registers');
    const { err, code } = await node('begin', '1981063', '--program-pmc', ...words);
    expect({ err, code }).toEqual({ err: '', code: 0 });
    const lines = readFileSync(join(dir, 'current'), 'utf8').split('\n');
    const programmed = lines.filter((line) => line.startsWith('intel_snb ')).slice(4);
    const [file] = execFileSync('find', [at, '-path', '*example/1*'], { encoding: 'utf8' }).split(
      '\n',
    );
    const theirs = readFileSync(file, 'utf8').split('\n\n')[1].split('\n');
    expect(programmed.sort()).toEqual(
      theirs.filter((line) => line.startsWith('intel_snb ')).sort(),
    );
    const kept = JSON.parse(readFileSync(join(dir, 'registers'), 'utf8')) as { saved: object[] };
    expect(kept.saved.length).toBeGreaterThan(4 * 8);
    await node('end', '1', ...words);
    expect(readdirSync(dir)).toContain('registers');
    // A daemon that runs keeps what is its own; one that is gone does not. 4194304 is no process.
    const owned = (owner: number) =>
      writeFileSync(join(dir, 'registers'), JSON.stringify({ ...kept, owner }), { mode: 0o600 });
    owned(process.pid);
    await node('end', '1981063', ...words);
    expect(readdirSync(dir)).toContain('registers');
    // Somebody else set the registers to what they held; what begins is counted by what was programmed all the same.
    cpSync(join(trees, 'before'), join(trees, 'tree0'), { recursive: true });
    const again = await node('begin', '1981064', ...words);
    expect(again).toMatchObject({ err: '', code: 0 });
    const control = (text: string) =>
      text.split('\n').filter((line) => line.startsWith('intel_snb '));
    expect(
      control(readFileSync(join(dir, 'current'), 'utf8'))
        .slice(-4)
        .sort(),
    ).toEqual(programmed.sort());
    owned(4194304);
    await node('end', '1981064', ...words);
    expect(readdirSync(dir)).not.toContain('registers');
    expect(current().problems).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('the commands of a node', () => {
  it('record jobs from begin to end, two on one node', async () => {
    const { node, current, dir } = newLog();
    for (const words of [
      ['collect'],
      ['begin', '4001'],
      ['begin', '4002'],
      ['collect', 'cpu'],
      ['mark', 'phase two\nof it'],
      ['end', '4001'],
      ['end', '4002'],
      ['collect'],
    ]) {
      const { code, err, out } = await node(...words);
      expect({ words, code, err, out }).toEqual({ words, code: 0, err: '', out: '' });
    }
    const { groups, problems } = current();
    expect(problems).toEqual([]);
    expect(groups.map(({ jobs, marks }) => `${jobs} ${marks.join('|')}`.trim())).toEqual([
      '-',
      '4001 begin 4001',
      '4001,4002 begin 4002',
      '4001,4002',
      '4001,4002 phase two\\nof it',
      '4001,4002 end 4001',
      '4002 end 4002',
      '-',
    ]);
    expect(new Set(groups[3].types)).toEqual(new Set(['cpu']));
    expect(new Set(groups[4].types).size).toBeGreaterThan(1);
    expect(filesOf(dir)).toHaveLength(1);
    expect(statSync(join(dir, 'current')).nlink).toBe(2);
  });

  it('find the job in the job-id file, then in SLURM_JOB_ID', async () => {
    const { node, current, jobid, dir } = newLog();
    writeFileSync(jobid, '77,78 more\n');
    await node('collect', 'cpu');
    writeFileSync(jobid, '0\n');
    await triscope(['node', 'begin', '--dir', dir, '--jobid-file', jobid], {
      env: { SLURM_JOB_ID: '79' },
    });
    await node('end', '79');
    await node('begin');
    expect(current().groups.map(({ jobs, marks }) => [jobs, ...marks])).toEqual([
      ['77,78'],
      ['79', 'begin 79'],
      ['79', 'end 79'],
      ['-', 'begin -'],
    ]);
  });

  it('rotate: version 1 begins a file with the next sample, version 2 at once', async () => {
    const first = newLog();
    await first.node('collect', 'cpu');
    await first.node('rotate');
    expect(readdirSync(first.dir)).not.toContain('current');
    await first.node('collect', 'cpu');
    expect(filesOf(first.dir)).toHaveLength(2);

    const second = newLog();
    await second.node('collect', '--raw-version', '2');
    await second.node('rotate', '--raw-version', '2');
    const { groups } = second.current();
    expect(groups).toHaveLength(1);
    expect(groups[0].marks).toEqual(['rotate -']);
    expect(groups[0].time).toMatch(/^\d+\.\d{6}$/);
    expect(groups[0].host).not.toBeNull();
    expect(filesOf(second.dir)).toHaveLength(2);
  });

  it('go on in the version of the current file, unless another is asked for', async () => {
    const { node, dir, current } = newLog();
    await node('collect', 'cpu', '--raw-version', '2');
    await node('begin', '7', '--type.cpu');
    expect(filesOf(dir)).toHaveLength(1);
    expect(current().groups.at(-1)?.time).toMatch(/^\d+\.\d{6}$/);
    await node('end', '7', '--type.cpu', '--raw-version', '1');
    expect(filesOf(dir)).toHaveLength(2);
    expect(current().groups.at(-1)?.time).toMatch(/^\d+$/);
  });

  it('begin a file that can take all types, though few are named', async () => {
    const { node, dir, current } = newLog();
    await node('collect', 'cpu');
    await node('collect');
    expect(filesOf(dir)).toHaveLength(1);
    expect(current().schemas.length).toBeGreaterThan(1);
  });

  it('leave types out, or take some only', async () => {
    const { node } = newLog();
    const without = await node('collect', '--print', '--no-type.cpu');
    expect(without.out).not.toMatch(/^!cpu /m);
    expect(without.out).toMatch(/^!cpu_steal /m);
    const only = await node('collect', '--print', '--type.cpu');
    expect(only.out.match(/^!\w+/gm)).toEqual(['!cpu']);
    const wrong = await node('collect', '--no-type.cpv');
    expect(wrong.err).toBe(
      'triscope: there is no type cpv: see triscope node types; did you mean cpu?\n',
    );
    expect(wrong.code).toBe(2);
  });

  it('move old files to an archive', async () => {
    const { node, dir } = newLog();
    await node('collect', 'cpu');
    await node('rotate');
    const archive = join(here, 'archive');
    const { code, out } = await triscope([
      ...['node', 'archive', '--dir', dir, '--archive', archive, '--age', '0', '--json'],
    ]);
    expect(code).toBe(0);
    const { moved } = JSON.parse(out) as { moved: string[] };
    expect(moved).toHaveLength(1);
    expect(readFileSync(moved[0]).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(filesOf(dir)).toEqual([]);
  });

  it('write a group whole or not at all, where the disk is full', async () => {
    const { node, dir, current } = newLog();
    await node('collect');
    const before = statSync(join(dir, 'current')).size;
    // 1 kB blocks: the file may not grow past the block that it ends in.
    const blocks = Math.floor(before / 1024) + 1;
    const run = (words: string) =>
      spawnSync(
        'bash',
        [
          '-c',
          `ulimit -f ${blocks}; exec "${process.execPath}" "${BIN}" node ${words} --dir "${dir}"`,
        ],
        { encoding: 'utf8' },
      );
    let outcome = run('collect');
    for (let tries = 0; outcome.status === 0 && tries < 20; tries++) outcome = run('collect');
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toMatch(/^triscope: .*current: .*(full|larger).*\n$/);
    expect(outcome.stderr.trim().split('\n')).toHaveLength(1);
    const { problems, groups } = current();
    expect(problems).toEqual([]);
    // A job whose first sample is lost is a job all the same.
    expect(run('begin 9 --jobid-file /nowhere').status).toBe(1);
    await node('collect');
    expect(current().groups).toHaveLength(groups.length + 1);
    expect(current().groups.at(-1)?.jobs).toBe('9');
    expect(current().problems).toEqual([]);
  });

  it.each([
    [['begin', 'a b'], 2, 'is not a job id'],
    [['begin', '0'], 2, 'job 0 means no job'],
    [['begin', '7', '--print', '--program-pmc'], 2, '--program-pmc needs a log'],
    [['end', '7', '--only'], 2, '--only goes with node begin'],
    [['begin', '1', '2'], 2, 'unexpected 2'],
    [['end', '1,2'], 2, 'is not a job id'],
    [['mark'], 2, 'which text'],
    [['mark', 'a', '--mark', 'b'], 2, 'writes its own mark'],
    [['collect', '--raw-version', '3'], 2, 'must be one of 1, 2'],
    [['rotate', 'x'], 2, 'unexpected x'],
    [['archive'], 2, '--archive DIR is missing'],
    [['archive', '--archive', 'x', '--age', 'y'], 2, '--age=y: must be an integer from 0'],
    [['archive', '--archive', 'x', '--dir', '/nowhere'], 1, '/nowhere: there is no such'],
    [['daemon', '--freq', '0'], 2, '--freq=0: must be a finite number from'],
    [
      ['daemon', '--config', '/nowhere'],
      3,
      '/nowhere: cannot be read: there is no such file or folder',
    ],
    [['daemon', 'cpu'], 2, 'unexpected cpu; node daemon takes only options'],
    [['daemon', '--no-type.cpv'], 2, 'there is no type cpv'],
  ])('%j: exit %d, one line', async (words, code, expected) => {
    // What schedulers and cron call is started in another way than the rest: as a process, here too.
    const outcome = /^(archive|daemon)$/.test(words[0])
      ? await triscopeHere(['node', ...words])
      : await triscope(['node', ...words], { env: { ...ENV, TRISCOPE_NODE_DIR: here } });
    expect(outcome.err).toContain(expected);
    expect(outcome.err.trim().split('\n')).toHaveLength(1);
    expect(outcome.code).toBe(code);
  });

  it('say where the log cannot be written', async () => {
    const file = join(here, 'file');
    mkdirSync(here, { recursive: true });
    writeFileSync(file, '');
    const { code, err } = await triscope(['node', 'collect', '--dir', file]);
    expect(code).toBe(1);
    expect(err).toMatch(/^triscope: \S+file(\/lock)?: a part of its path is not a folder\n$/);
  });
});
