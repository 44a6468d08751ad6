/** The package as it is published, packed and installed, on every Node that is supported: what depends on Node and V8. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NODES = JSON.parse(readFileSync(join(ROOT, 'scripts', 'nodes.json'), 'utf8')) as Readonly<
  Record<string, { readonly version: string }>
>;
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'triscope', 'nodes');

/** As scripts/nodes.mjs has it. */
const nodeOf = (major: string) =>
  process.versions.node.startsWith(`${major}.`)
    ? process.execPath
    : join(CACHE, NODES[major].version, 'node');

const base = mkdtempSync(join(tmpdir(), 'triscope-nodes-'));
const installed = join(base, 'node_modules', 'triscope');
const bin = join(installed, 'bin', 'triscope');
afterAll(() => rmSync(base, { recursive: true }));

const execute = promisify(execFile);

/** Digests of the committed events and of the final states. A model commits the same on every machine. */
const MODELS = [
  [
    'phold',
    ['--total-lps=64', '--lookahead=0.1', '--end=100'],
    '57735c4766202f02',
    'c26273edbd1a8dbc',
  ],
  ['queueing', ['--total-stations=16', '--end=200'], 'c0577618227d384b', '3b36741d1534ca96'],
  ['torus', ['--end=500'], '336c2662ac3ec5f3', 'f92b5460d9ad5c84'],
  ['pcs', ['--end=2'], 'be74fb928b5657d2', '154aab8f16efa85c'],
] as const;

const there = Object.keys(NODES).filter((major) => existsSync(nodeOf(major)));

describe.skipIf(there.length === 0)('the package', () => {
  beforeAll(async () => {
    const { stdout } = await execute('npm', ['pack', ROOT, '--ignore-scripts', '--silent'], {
      cwd: base,
    });
    mkdirSync(installed, { recursive: true });
    const unpack = ['-xzf', stdout.trim(), '--strip-components=1', '-C', installed];
    await execute('tar', unpack, { cwd: base });
    // What it says that it needs, and nothing else, is beside it.
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    );
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const link = join(base, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), link);
    }
  });

  it('holds what runs, and nothing that only builds it', () => {
    expect(readdirSync(join(installed, 'bin')).sort()).toEqual([
      'compiled.js',
      'package.json',
      'script.js',
      'thread.js',
      'triscope',
    ]);
    expect(readdirSync(join(installed, 'dist')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  for (const major of Object.keys(NODES)) {
    describe.skipIf(!existsSync(nodeOf(major)))(`on Node ${major} (needs Node ${major})`, () => {
      const node = nodeOf(major);
      const cwd = join(base, major);
      // In which V8 keeps what it has compiled.
      const env = { ...process.env, HOME: cwd, XDG_CACHE_HOME: '', NO_COLOR: '' };
      const run = async (args: readonly string[]) => {
        const { stdout, stderr } = await execute(node, [...args], { cwd, env });
        expect([args, stderr]).toEqual([args, '']);
        return stdout;
      };
      const triscope = (...args: string[]) => run([bin, ...args]);
      beforeAll(() => {
        mkdirSync(cwd);
      });

      it('simulates on threads what every Node does', async () => {
        expect((await run(['--version'])).slice(1, major.length + 2)).toBe(`${major}.`);
        for (const [model, options, events, states] of MODELS) {
          const record = model === 'pcs' ? ['--record=pcs'] : [];
          const stdout = await triscope(
            'sim',
            'run',
            model,
            ...options,
            '--pes=2',
            '--json',
            ...record,
          );
          const { eventDigest, stateDigest } = JSON.parse(stdout);
          expect([model, eventDigest, stateDigest]).toEqual([model, events, states]);
        }
      });

      it('requires each module of the package by its name', async () => {
        const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
        const names = Object.keys(exports).map((key) => key.replace('.', 'triscope'));
        const text = `const names = ${JSON.stringify(names)};
          process.stdout.write(String(names.filter((name) => typeof require(name) === 'object').length));`;
        expect(await run(['--input-type=commonjs', '-e', text])).toBe(String(names.length));
      });

      it('queries a recording', async () => {
        const count = 'SELECT count(*) AS n FROM pes';
        expect(JSON.parse(await triscope('query', 'pcs.tri', count, '--json'))).toEqual([{ n: 2 }]);
      });

      it('samples the regions that a program marks on its page, and says nothing', async () => {
        const program = `import { region } from 'triscope/region';
          const work = region('work');
          for (let k = 0; k < 3; k++) { work.enter(); work.exit(); }`;
        const out = await triscope(
          ...['region', 'launch', '--geopm-period=0.005', '--geopm-report=report', '--'],
          ...[node, '--input-type=module', '-e', program],
        );
        expect(out).toBe('');
        const report = readFileSync(join(cwd, 'report'), 'utf8');
        expect(report).toMatch(/region: "?work"?\n(.*\n)*?\s+count: 3\n/);
      });

      it('calls the C library', async () => {
        const affinity = join(installed, 'dist', 'os', 'affinity.js');
        const text = `const { allowedCpus, pinThread, threadId } = await import(${JSON.stringify(affinity)});
          const [cpu] = allowedCpus();
          process.stdout.write(JSON.stringify([threadId() === process.pid, pinThread(cpu), allowedCpus().length]));`;
        expect(JSON.parse(await run(['--input-type=module', '-e', text]))).toEqual([true, true, 1]);
      });

      it('serves the page', async () => {
        const child = spawn(node, [bin, 'serve', 'pcs.tri', '--json', '--port=0'], { cwd, env });
        const { url } = JSON.parse(await firstLine(child));
        const { status } = await fetch(url, { redirect: 'manual' });
        expect([200, 302, 303]).toContain(status);
        const ended = new Promise((resolve) => child.once('close', resolve));
        child.kill('SIGTERM');
        await ended;
      });

      it('keeps what V8 has compiled, and V8 takes it again', async () => {
        await triscope('--version');
        await triscope('--version');
        const [[model, options]] = MODELS;
        await triscope('sim', 'run', model, ...options, '--pes=2', '--json');
        const folder = join(cwd, '.cache', 'triscope', 'compiled');
        const kept = readdirSync(folder).map((name) => {
          const words = readFileSync(join(folder, name), 'latin1').trimEnd().split(' ');
          return [name.replace(/-[0-9a-f]{32}-\w+-\w+$/, ''), words.at(-1)];
        });
        // What V8 refuses is never settled.
        expect(Object.fromEntries(kept)).toMatchObject({
          controller: 'growing',
          'main---version': 'settled',
          'main-query': 'growing',
          'main-region-launch': 'growing',
          'main-sim-run': 'settled',
          pe: 'settled',
        });
      });
    });
  }
});

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (data) => {
      text += data;
      if (text.includes('\n')) resolve(text.split('\n')[0]);
    });
    child.once('close', (code) => reject(new Error(`it ended with code ${code}: ${text}`)));
  });
}
