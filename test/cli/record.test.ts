/** `triscope record`: a command with its machine, its regions and its threads. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tellWorst } from '../../src/cli/worst-finding.ts';
import { findAll } from '../../src/findings/index.ts';
import { RECORDING_FILE } from '../../src/model/recording.ts';
import { openRecording } from '../../src/query/index.ts';
import { CPU } from '../findings/job/support/archive.ts';
import { removeFolder } from '../findings/support/findings.ts';
import { jobAt, user } from '../findings/support/machine.ts';
import { until } from '../support/until.ts';
import { BIN, temporaryFolder, triscope, triscopeHere } from './support/run.ts';

afterAll(removeFolder);

const facts = (folder: string) => JSON.parse(readFileSync(join(folder, RECORDING_FILE), 'utf8'));

/** Rows of a query of a recording. */
async function asked<T extends object>(
  folder: string,
  ...queries: readonly string[]
): Promise<T[][]> {
  const recording = await openRecording(folder);
  try {
    const all: T[][] = [];
    for (const sql of queries) all.push(await recording.query<T>(sql));
    return all;
  } finally {
    await recording.close();
  }
}

describe.skipIf(process.platform !== 'linux')('record', () => {
  it('keeps all layers of a command that has its streams and its exit code, and refuses what cannot be', async () => {
    const cwd = temporaryFolder();
    const tmp = temporaryFolder();
    const call = { cwd, env: { TMPDIR: tmp } };
    const words = [
      ...['record', '--visits'],
      '-o',
      'run',
      '--',
      'sh',
      '-c',
      'cat; echo told >&2; (sleep 0.8); exit 3',
    ];
    const first = await triscope(words, { ...call, input: 'given\n' });
    expect([first.code, first.out]).toEqual([3, 'given\n']);
    const lines = first.err.trimEnd().split('\n');
    expect(lines[0]).toBe('told');
    expect(lines.at(-1)).toMatch(
      /^triscope: run\.tri: problem: .* code 3.*; next: triscope report run\.tri$/,
    );
    const folder = join(cwd, 'run.tri');
    const recording = facts(folder);
    expect([recording.state, recording.error]).toEqual(['failed', 'the command ended with code 3']);
    const sources = recording.sources.map(({ name }: { name: string }) => name);
    expect(sources).toEqual(['processes', 'node', 'regions']);
    expect(existsSync(join(folder, `geopm.profile-${hostname()}`))).toBe(true);
    const [who, ran, marks, regions, suspect] = await asked(
      folder,
      "SELECT command FROM process_info WHERE name = 'sh' ORDER BY t LIMIT 1",
      'SELECT count(*) > 1 AS often FROM process_thread_rate WHERE cpu_time >= 0 AND run_queue_wait >= 0',
      'SELECT count(DISTINCT t) > 1 AS often FROM node_cpu',
      'SELECT section FROM geopm_region',
      'SELECT * FROM suspect',
    );
    expect(who).toEqual([{ command: `sh -c ${words.at(-1)}` }]);
    expect([ran, marks]).toEqual([[{ often: true }], [{ often: true }]]);
    expect(regions).toContainEqual({ section: 'application' });
    expect(suspect).toMatchObject([{ what: 'its run failed: the command ended with code 3' }]);
    expect(readdirSync(tmp)).toEqual([]);
    const again = await triscope(['record', '-o', 'run', '--', 'touch', 'ran'], call);
    expect([again.code, again.err]).toEqual([
      1,
      'triscope: -o: run.tri exists already; remove it or give another name\n',
    ]);
    const none = await triscope(['record', '-o', 'none', '--', './nobody'], call);
    expect([none.code, none.err]).toEqual([
      127,
      'triscope: cannot run ./nobody: no such command\n',
    ]);
    const folderAsCommand = ['record', '--no-regions', '--no-node', '-o', 'none', '--', tmp];
    expect(await triscope(folderAsCommand, call)).toMatchObject({
      code: 126,
      err: `triscope: cannot run ${tmp}: it is a folder\n`,
    });
    writeFileSync(join(tmp, 'script'), '#!/no/such/interpreter\n', { mode: 0o755 });
    const orphan = ['record', '--no-regions', '--no-node', '-o', 'none', '--', join(tmp, 'script')];
    expect(await triscope(orphan, call)).toMatchObject({
      code: 127,
      err: `triscope: cannot run ${join(tmp, 'script')}: the interpreter of its first line, or its loader, is not there\n`,
    });
    expect(readdirSync(cwd)).toEqual(['run.tri']);
  });

  it('refuses what it cannot write before the command runs, in one line', async () => {
    const folder = temporaryFolder();
    const at = (...names: string[]) => join(folder, ...names);
    const refused = async (...options: string[]) => {
      const { code, out, err } = await triscopeHere([
        'record',
        ...options,
        '--',
        'touch',
        at('ran'),
      ]);
      expect([code, out, err.match(/\n/g)?.length]).toEqual([1, '', 1]);
      return err;
    };
    writeFileSync(at('file'), '');
    expect(await refused('-o', at('file', 'run'))).toContain(
      `-o: cannot make ${at('file', 'run.tri')}`,
    );
    expect(await refused('-o', '/proc/none/run')).toContain('-o: cannot make /proc/none/run.tri');
    const page = ['-o', at('run'), '--report', at('none', 'page.html')];
    expect(await refused(...page)).toBe(
      `triscope: --report=${at('none', 'page.html')}: cannot be written: its folder does not exist\n`,
    );
    expect(await refused('-o', at('run'), '--report', folder)).toContain(`--report=${folder}: `);
    const wrong = ['record', '--signals=TIMEX', '-o', at('run'), '--', 'touch', at('ran')];
    expect(await triscopeHere(wrong)).toMatchObject({
      code: 2,
      err: 'triscope: there is no signal TIMEX; did you mean TIME?\n',
    });
    expect(await triscopeHere(['record', '--pid=1', '--', 'touch', at('ran')])).toMatchObject({
      code: 2,
      err: 'triscope: give --pid=N or a command, not both\n',
    });
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('tells at the end what is slow, and no mere information', async () => {
    const said: string[] = [];
    const poor = jobAt([CPU], { a: user(0, 6000), b: user(0, 3900) }, 59);
    await tellWorst(poor, { say: (line) => void said.push(line), examines: true, page: null });
    expect(said[0]).toMatch(/: nothing stands out; next: /);
  });

  it.skipIf(spawnSync('unshare', ['--mount', 'setpriv', '--clear-groups', 'true']).status !== 0)(
    'names what it has no rights to read, once (needs root with namespaces)',
    () => {
      const cwd = temporaryFolder();
      chownSync(cwd, 65_534, 65_534);
      const secret = join(temporaryFolder(), 'vmstat');
      writeFileSync(secret, 'pgfault 1\n', { mode: 0o600 });
      const user = 'setpriv --reuid 65534 --regid 65534 --clear-groups';
      const record = `"${process.execPath}" "${BIN}" record --no-threads -o run -- true`;
      const script = `mount --bind ${secret} /proc/vmstat && exec ${user} ${record}`;
      const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script], {
        cwd,
        encoding: 'utf8',
        env: { ...process.env, HOME: cwd, TMPDIR: cwd },
      });
      expect(status).toBe(0);
      expect(stderr.split('\n').filter((line) => line.includes('rights'))).toEqual([
        'triscope: no rights to read vm: see triscope node types',
      ]);
    },
  );

  it('of a command that ends at once keeps who it was, and leaves out what it was told to', async () => {
    const cwd = temporaryFolder();
    const { code, out } = await triscope(['record', '--no-node', '--no-regions', '--', 'true'], {
      cwd,
    });
    expect([code, out]).toEqual([0, '']);
    const folder = join(cwd, 'true.tri');
    expect(readdirSync(folder).sort()).toEqual(['extra.frames', RECORDING_FILE]);
    const [who] = await asked(folder, 'SELECT DISTINCT command FROM process_info');
    expect(who).toContainEqual({ command: 'true' });
  });

  it.skipIf(spawnSync('script', ['--version']).status !== 0)(
    'a terminal’s Ctrl-C reaches the command once, also where stdin is a file',
    async () => {
      const cwd = temporaryFolder();
      const program =
        'let n = 0; process.on("SIGINT", () => n++ || setTimeout(() => { console.log("got " + n); process.exit(5) }, 300)); setInterval(() => {}, 1e5); console.log("ready")';
      writeFileSync(join(cwd, 'program.js'), program);
      const words = ['record', '--no-node', '-o', 'run', '--', process.execPath, 'program.js'];
      // Without exec the shell may stay in between, and die of Ctrl-C itself, as Debian's does.
      const line = `exec ${[process.execPath, BIN, ...words].join(' ')} < /dev/null`;
      const env = { ...process.env, SHELL: '/bin/sh' };
      const terminal = spawn('script', ['-qec', line, '/dev/null'], { cwd, env });
      let shown = '';
      terminal.stdout.on('data', (data) => {
        shown += data;
      });
      const ended = new Promise((resolve) => terminal.once('close', resolve));
      await until(() => shown.includes('ready'));
      terminal.stdin.write('\x03');
      expect(await ended).toBe(5);
      expect(shown).toContain('got 1');
    },
  );

  it('joins a process until Ctrl-C, which is no mishap: the process goes on', async () => {
    const cwd = temporaryFolder();
    const joined = spawn('sleep', ['60'], { stdio: 'ignore' });
    const words = ['record', '-o', 'run', '--no-node', `--pid=${joined.pid}`];
    const child = spawn(process.execPath, [BIN, ...words], { cwd, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const frames = join(cwd, 'run.tri', 'extra.frames');
    await until(() => existsSync(frames) && statSync(frames).size > 3000);
    child.kill('SIGINT');
    expect([await ended, joined.exitCode, facts(join(cwd, 'run.tri')).state]).toEqual([
      ...[0, null, 'finished'],
    ]);
    joined.kill();
  });

  it('joins a process that runs already, shows it live, and ends with it', async () => {
    const cwd = temporaryFolder();
    const joined = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
    const words = ['record', '-o', 'run', '--no-node', '--live', `--pid=${joined.pid}`];
    const child = spawn(process.execPath, [BIN, ...words], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (data) => {
      said += data;
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const link = () => /^triscope: live at (http:\S+)$/m.exec(said)?.[1];
    await until(() => link() !== undefined);
    const come = await fetch(link() as string, { redirect: 'manual' });
    const cookie = come.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await fetch(new URL('/', link()), { headers: { cookie } })).status).toBe(200);
    expect((await fetch(new URL('/', link()))).status).toBe(401);
    const frames = join(cwd, 'run.tri', 'extra.frames');
    await until(() => existsSync(frames) && statSync(frames).size > 3000);
    joined.stdin.end();
    expect(await ended).toBe(0);
    const folder = join(cwd, 'run.tri');
    expect(facts(folder).state).toBe('finished');
    const [who] = await asked(folder, 'SELECT DISTINCT name, process_id AS id FROM process_info');
    expect(who).toEqual([{ name: 'cat', id: joined.pid }]);
    expect(await triscope(['record', '-o', 'a', `--pid=${joined.pid}`], { cwd })).toMatchObject({
      code: 2,
      err: `triscope: --pid=${joined.pid}: no such process\n`,
    });
  });

  it('that is killed leaves a recording that opens and says so', async () => {
    const cwd = temporaryFolder();
    const child: ChildProcess = spawn(
      process.execPath,
      [BIN, 'record', '-o', 'run', '--', 'sleep', '600'],
      { cwd, stdio: 'ignore', env: { ...process.env, TMPDIR: temporaryFolder() } },
    );
    const frames = join(cwd, 'run.tri', 'extra.frames');
    await until(() => existsSync(frames) && statSync(frames).size > 3000);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    const folder = join(cwd, 'run.tri');
    const [processes] = await asked<{ id: number }>(
      folder,
      "SELECT DISTINCT process_id AS id FROM process_info WHERE name = 'sleep'",
    );
    for (const { id } of processes) process.kill(id, 'SIGKILL');
    expect(processes).toHaveLength(1);
    const recording = await openRecording(folder);
    const found = await findAll(recording, { path: folder });
    await recording.close();
    expect(found.map(({ sentence }) => sentence)).toContainEqual(
      'The recording has no end: its run was killed or is still going on. The other findings cover the part that was recorded.',
    );
  });
});
