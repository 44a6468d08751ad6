/** How commands start: from scripts, as bin/ runs them, with what V8 compiled of them before; or from modules. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { triscope } from './support/run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const script = createRequire(import.meta.url)(join(ROOT, 'bin', 'script.js')) as {
  readonly SCRIPTS: Readonly<Record<string, string>>;
  readonly OF_MODELS: readonly string[];
};
const MODULES_OF_SCRIPTS = new Set(
  [...Object.values(script.SCRIPTS), ...script.OF_MODELS].map((path) => path.replace(/js$/, 'ts')),
);
const PHOLD = ['sim', 'run', 'phold', '--total-lps=64', '--lookahead=0.1', '--end=200', '--json'];
/** With a module of the user's before it, the command is made of modules. */
const MODULES = { NODE_OPTIONS: '--import=data:text/javascript,' };
const NOBODY = 65534;
const isRoot = process.geteuid?.() === 0;

const base = mkdtempSync(join(tmpdir(), 'triscope-start-'));
afterAll(() => rmSync(base, { recursive: true }));
/** A user's home with nothing in it. */
const home = () => mkdtempSync(join(base, 'home-'));
const environment = (at: string) => ({ HOME: at, XDG_CACHE_HOME: '' });

describe('a script', () => {
  it.each([1, 2])('simulates on %i PEs what its modules do', async (pes) => {
    const args = [...PHOLD, `--pes=${pes}`];
    const runs = await Promise.all([triscope(args), triscope(args, { env: MODULES })]);
    const [script, modules] = runs.map(({ out }) => JSON.parse(out));
    expect(script.eventDigest).toBe(modules.eventDigest);
    expect(script.stateDigest).toBe(modules.stateDigest);
    expect(script.netEvents).toBe(modules.netEvents);
  });

  it('runs a user’s model as its modules do, and gives it the engine’s own', async () => {
    const model = join(base, 'own.ts');
    writeFileSync(
      model,
      `import { defineModel, int, ModelError } from 'triscope/sim';
       export default defineModel({
         name: 'own', end: 9, lps: () => 2, state: {}, message: {}, options: { fails: int(0) },
         init: (lp) => void lp.send(1 - lp.id, 1),
         forward(lp) {
           if (lp.params.fails > 0) throw new ModelError('of the model');
           lp.send(1 - lp.id, 1 + lp.uniform());
         },
       });`,
    );
    const args = ['sim', 'run', model, '--pes=2', '--json'];
    for (const more of [[], ['--fails=1']]) {
      const runs = [triscope([...args, ...more]), triscope([...args, ...more], { env: MODULES })];
      const [script, modules] = await Promise.all(runs);
      // The first to say so may be either LP.
      const [told, tells] = [script, modules].map(({ code, err }) => [
        code,
        err.replace(/LP \d/, ''),
      ]);
      expect(told).toEqual(tells);
      const digests = ({ out }: typeof script) => out.match(/"\w+Digest": *"\w+"/g);
      expect(digests(script)).toEqual(digests(modules));
      expect(digests(script) === null).toBe(more.length > 0);
    }
  });

  it('refuses in the same words', async () => {
    const args = ['sim', 'run', 'phold', '--synch=seqential'];
    const [script, modules] = await Promise.all([triscope(args), triscope(args, { env: MODULES })]);
    expect(script.code).toBe(2);
    expect([script.code, script.err]).toEqual([modules.code, modules.err]);
  });

  it.each(['collect', 'begin', 'end', 'mark', 'rotate', 'daemon'])(
    'of its own has node %s',
    async (command) => {
      // Unknown options are refused by the command itself.
      const args = ['node', command, '--typse=cpu'];
      const runs = [triscope(args), triscope(args, { env: MODULES })];
      const [script, modules] = await Promise.all(runs);
      expect([script.code, script.err]).toEqual([modules.code, modules.err]);
      expect(script.err).toContain('--typse');
    },
  );

  it('of its own, and small, runs on nodes', async () => {
    const at = home();
    const args = ['node', 'collect', 'cpu', `--dir=${join(at, 'log')}`];
    expect((await triscope(args, { env: environment(at) })).code).toBe(0);
    expect(readdirSync(join(at, '.cache/triscope/compiled'))).toEqual([
      expect.stringMatching(/^node-node-collect-/),
    ]);
    const sizeOf = (name: string) => statSync(join(ROOT, 'dist/scripts', name)).size;
    expect(sizeOf('node.js')).toBeLessThan(sizeOf('main.js') / 4);
  });
});

/** A package of its own, small, built as this one is. */
function smallPackage(): string {
  const folder = mkdtempSync(join(base, 'package-'));
  for (const name of ['bin', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const path of MODULES_OF_SCRIPTS) {
    mkdirSync(dirname(join(folder, 'src', path)), { recursive: true });
    writeFileSync(join(folder, 'src', path), says('first'));
  }
  compile(folder);
  node(folder, [
    '--input-type=module',
    '-e',
    "const { makeScripts } = await import('./bin/link.mjs'); await makeScripts(process.cwd() + '/dist');",
  ]);
  return folder;
}

const says = (word: string) =>
  `export function runCommandLine(): void { process.stdout.write('${word}'); }\n`;

const node = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  execFileSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function compile(folder: string): void {
  const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc');
  node(folder, [tsc, '-p', 'tsconfig.build.json', '--noCheck']);
}

describe('what starts', () => {
  let folder = '';
  beforeAll(() => {
    folder = smallPackage();
  });

  const run = (env: Readonly<Record<string, string>>) => node(folder, ['bin/triscope', 'x'], env);
  const foldersOf = (at: string) =>
    ['', '.cache', '.cache/triscope', '.cache/triscope/compiled'].map((it) => join(at, it));
  const keptIn = (at: string) => {
    const [, , , compiled] = foldersOf(at);
    return existsSync(compiled) ? readdirSync(compiled).map((name) => join(compiled, name)) : [];
  };
  const lastWord = (path: string) => readFileSync(path, 'latin1').trimEnd().split(' ').at(-1);

  it('is kept compiled in a folder that is the user’s alone, until it grows no more', () => {
    const at = home();
    expect(run(environment(at))).toBe('first');
    expect(
      foldersOf(at)
        .slice(1)
        .map((it) => statSync(it).mode & 0o777),
    ).toEqual([0o700, 0o700, 0o700]);
    const [path, ...others] = keptIn(at);
    expect(others).toEqual([]);
    expect([statSync(path).mode & 0o777, lastWord(path)]).toEqual([0o600, 'growing']);
    run(environment(at));
    // V8 took it: of what it refuses, nothing is settled.
    expect([keptIn(at), lastWord(path)]).toEqual([[path], 'settled']);
    const { mtimeMs, ino } = statSync(path);
    run(environment(at));
    expect(statSync(path)).toMatchObject({ mtimeMs, ino });
  });

  it('is compiled again where what was kept is not whole', () => {
    const at = home();
    run(environment(at));
    const [path] = keptIn(at);
    const whole = readFileSync(path);
    for (const length of [0, 1, whole.length >> 1, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, length));
      expect(run(environment(at))).toBe('first');
      expect([length, lastWord(path)]).toEqual([length, 'growing']);
    }
  });

  /** What V8 takes for the script's, and says 'other'. */
  function poison(path: string): void {
    const script = join(folder, 'dist', 'scripts', 'main.js');
    const text = readFileSync(script, 'latin1');
    const other = text.replace("'first'", "'other'").replace('"first"', '"other"');
    expect(other).not.toBe(text);
    const own = new Script(other, { filename: script });
    const end = readFileSync(path, 'latin1').match(/\n\S+ \w+\n$/)?.[0] ?? '';
    // Compiled with all its functions, which are compiled when they are called.
    const bundle = { exports: {} as { runCommandLine(): void } };
    const { write } = process.stdout;
    process.stdout.write = () => true;
    own.runInThisContext()(
      bundle,
      () => {},
      () => {},
      '',
    );
    bundle.exports.runCommandLine();
    process.stdout.write = write;
    writeFileSync(path, Buffer.concat([own.createCachedData(), Buffer.from(end)]));
  }

  it.skipIf(!isRoot)('never runs what another user may have put there', () => {
    const at = home();
    run(environment(at));
    const [path] = keptIn(at);
    const [, , , compiled] = foldersOf(at);
    const aside = join(at, 'aside');
    const tries: Readonly<Record<string, () => void>> = {
      'a file that others may write': () => chmodSync(path, 0o620),
      "another's file": () => chownSync(path, NOBODY, NOBODY),
      'a link': () => {
        renameSync(path, aside);
        symlinkSync(aside, path);
      },
      'a folder that others may enter': () => chmodSync(compiled, 0o711),
      "another's folder": () => chownSync(compiled, NOBODY, NOBODY),
      "another script's": () =>
        writeFileSync(path, readFileSync(path, 'latin1').replace('\nmain-', '\nmine-'), 'latin1'),
    };
    poison(path);
    // So it would be run, and the rest of this test can fail.
    expect(run(environment(at))).toBe('other');
    for (const [name, spoil] of Object.entries(tries)) {
      rmSync(path, { force: true });
      chmodSync(compiled, 0o700);
      chownSync(compiled, 0, 0);
      run(environment(at));
      poison(path);
      spoil();
      expect([name, run(environment(at))]).toEqual([name, 'first']);
    }
  });

  it.skipIf(!isRoot)('leaves nothing in the home of another, as under sudo', () => {
    const at = home();
    chownSync(at, NOBODY, NOBODY);
    expect(run(environment(at))).toBe('first');
    expect(readdirSync(at)).toEqual([]);
  });

  it.each([
    ['no home', '/nonexistent/home'],
    ['a file for a home', join(ROOT, 'package.json')],
    ['a home that cannot be written', '/proc/self'],
  ])('needs nothing: %s', (_, at) => {
    expect(run(environment(at))).toBe('first');
  });

  it('keeps no more than 64 files', () => {
    const at = home();
    run(environment(at));
    const [path] = keptIn(at);
    rmSync(path);
    for (let i = 0; i < 70; i++) writeFileSync(`${path}-${i}`, '');
    run(environment(at));
    expect(keptIn(at)).toHaveLength(64);
    expect(keptIn(at)).toContain(path);
  });

  it('removes first what was not used for longest, not what was made first', () => {
    const at = home();
    run(environment(at));
    run(environment(at));
    const [used] = keptIn(at);
    const daysAgo = (n: number) => (Date.now() - n * 86_400_000) / 1000;
    utimesSync(used, daysAgo(9), daysAgo(9));
    for (let i = 0; i < 70; i++) {
      writeFileSync(`${used}-${i}`, '');
      utimesSync(`${used}-${i}`, daysAgo(2), daysAgo(2));
    }
    run(environment(at));
    node(folder, ['bin/triscope', 'another', 'y'], environment(at));
    expect(keptIn(at)).toHaveLength(64);
    expect(keptIn(at)).toContain(used);
  });

  it('is what tsc compiled last, whoever called it', () => {
    writeFileSync(join(folder, 'src/cli/main.ts'), says('second'));
    compile(folder);
    expect(run(environment(home()))).toBe('second');
  });
});
