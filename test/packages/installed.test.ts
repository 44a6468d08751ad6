/** The package as users have it: `npm pack`'s tarball, installed in an empty project, used where nothing else is. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HAS_ROOMS,
  install,
  link,
  ROOT,
  type Room,
  type RoomOptions,
  room,
} from './support/project.ts';
import { follow, patternOf } from './support/tutorial.ts';

// A blank, and letters that are not ASCII.
const base = mkdtempSync(join(tmpdir(), 'triscope größer als '));
afterAll(() => rmSync(base, { recursive: true }));
const project = join(base, 'empty project');
let tarball = '';
beforeAll(() => {
  mkdirSync(project);
  tarball = install(project);
});

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, string | object>>;
};
/** Each name by which a module of the package is imported. */
const NAMES = Object.keys(exports)
  .filter((key) => key !== './package.json')
  .map((key) => key.replace('.', 'triscope'));

describe('its size', () => {
  /** Bytes of the files in a folder. */
  const sizeOf = (folder: string): number =>
    readdirSync(folder, { withFileTypes: true }).reduce((sum, one) => {
      const path = join(folder, one.name);
      if (one.isSymbolicLink()) return sum;
      return sum + (one.isDirectory() ? sizeOf(path) : statSync(path).size);
    }, 0);

  it('is as docs/dependencies.md says, to a tenth', () => {
    const modules = join(project, 'node_modules');
    const text = readFileSync(join(ROOT, 'docs', 'dependencies.md'), 'utf8');
    const [, ...said] =
      /The tarball has ([\d.]+) MB, unpacked ([\d.]+) MB; with the packages that it needs ([\d.]+) MB, of which DuckDB is ([\d.]+) MB/.exec(
        text,
      ) ?? [];
    const are = [
      statSync(tarball).size,
      ...['triscope', '.', '@duckdb'].map((name) => sizeOf(join(modules, name))),
    ].map((bytes) => bytes / 1e6);
    const off = are.map((size, k) => Math.abs(Number(said[k]) / size - 1));
    expect(said.length, JSON.stringify(are)).toBe(4);
    expect(Math.max(...off), JSON.stringify(are)).toBeLessThan(0.1);
  });
});

describe('its declarations', () => {
  const compiler = join(ROOT, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const lines = NAMES.map((name, k) => `import * as module${k} from '${name}';`);
  const all = `export const all: object[] = [${NAMES.map((_, k) => `module${k}`).join(', ')}];`;
  beforeAll(() => {
    link(project, '@types/node');
    link(project, 'undici-types');
    for (const name of ['use.ts', 'use.cts']) {
      writeFileSync(join(project, name), [...lines, all].join('\n'));
    }
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('are sound under module %s, resolution %s, libraries checked', (module, resolution) => {
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--types', 'node'];
    const words = ['--target', 'es2022', '--module', module, '--moduleResolution', resolution];
    const { stdout } = spawnSync(
      process.execPath,
      [compiler, ...options, ...words, 'use.ts', 'use.cts'],
      { cwd: project, encoding: 'utf8' },
    );
    expect(stdout).toBe('');
  });
});

it('a bundle without it has several PEs, one with it says how', () => {
  const program =
    "import { simulate } from 'triscope/sim';\nconst settings = { end: 5, pes: 2, options: { 'total-lps': 4 } };\nsimulate('phold', settings).then((run) => console.log(run.pes), (error) => console.log(error.message));\n";
  writeFileSync(join(project, 'app.mjs'), program);
  const esbuild = join(ROOT, 'node_modules', 'esbuild', 'bin', 'esbuild');
  const said = (format: 'esm' | 'cjs', ...more: readonly string[]) => {
    const file = `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`;
    const to = [`--format=${format}`, `--outfile=${file}`];
    const words = ['app.mjs', '--bundle', '--platform=node', '--log-level=error', ...to, ...more];
    execFileSync(esbuild, words, { cwd: project });
    const { stdout, stderr } = spawnSync(process.execPath, [file], {
      ...{ cwd: project, encoding: 'utf8' },
    });
    return stdout + stderr;
  };
  for (const format of ['esm', 'cjs'] as const) {
    expect(said(format, '--external:triscope')).toBe('2\n');
  }
  expect(said('esm')).toMatch(
    /^PE \d died: .* keep triscope outside of it \(esbuild --external:triscope/,
  );
  expect(said('cjs')).toContain(
    'TriscopeError: triscope does not work inside a CommonJS bundle: keep it outside (esbuild --external:triscope',
  );
});

it('tells places in models, whichever installation compiled the code that is kept', () => {
  writeFileSync(
    join(project, 'odd.mjs'),
    `import { defineModel } from 'triscope/sim';
export default defineModel({
  name: 'odd', options: {}, lps: () => 4, state: { n: 'u32' }, message: {},
  init: (lp) => lp.send(lp.id, 1),
  forward: (lp) => { lp.state.m = 1; },
});
`,
  );
  const env = { ...process.env, XDG_CACHE_HOME: join(base, 'cache of two') };
  for (const from of [ROOT, join(project, 'node_modules', 'triscope')]) {
    for (const _ of ['compiles', 'has compiled']) {
      const { stderr } = spawnSync(
        process.execPath,
        [join(from, 'bin', 'triscope'), 'sim', 'run', './odd.mjs', '--pes=2', '--end=9'],
        { cwd: project, encoding: 'utf8', env },
      );
      expect(stderr).toContain('did you mean n? (at odd.mjs:5:31)');
    }
  }
});

it('npx starts it', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const said = execFileSync('npx', ['--no-install', 'triscope', '--version'], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(said).toBe(`${version}\n`);
});

describe.skipIf(!HAS_ROOMS)('in a root that is empty but for it (needs namespaces)', () => {
  const rooms: Room[] = [];
  const enter = async (options: RoomOptions = {}): Promise<Room> => {
    const folder = join(base, `room ${rooms.length}`);
    mkdirSync(folder);
    const made = await room(folder, project, options);
    rooms.push(made);
    return made;
  };
  afterAll(() => {
    for (const one of rooms) one.close();
  });

  it('has no checkout, no compiler, no rights, and a node_modules that is read-only', async () => {
    const { modules, run } = await enter();
    const tries = [`ls ${ROOT}`, 'cc --version', `touch '${modules}/x'`, 'touch /etc/x'];
    expect(tries.filter((command) => run(command).status === 0)).toEqual([]);
    expect(Number(run('id -u').stdout)).toBeGreaterThan(0);
    expect(run('ls -A').stdout).toBe('node_modules\n');
  });

  it('is imported and required by each of its names', async () => {
    const { run } = await enter();
    const program = `const names = ${JSON.stringify(NAMES)};
      const one = (module) => Object.keys(module).filter((key) => !/^(default|module.exports|__esModule)$/.test(key)).length;
      Promise.all(names.map((name) => import(name))).then((modules) => {
        console.log(JSON.stringify([modules.map(one), names.map((name) => one(require(name)))]));
      });`;
    const { stdout, stderr } = run(`node -e '${program}'`);
    expect(stderr).toBe('');
    const [imported, required] = JSON.parse(stdout);
    expect(required).toEqual(imported);
    // The one that marks what others do has no names.
    expect(imported.filter((count: number) => count > 0).length).toBe(NAMES.length - 1);
  });

  it('does without its optional packages what needs none of them, and says what lacks', async () => {
    const { run } = await enter({ without: ['@duckdb', '@esbuild', '@koromix'] });
    const record = '--engine-stats=gvt --record=run';
    expect(run(`triscope sim run phold --pes=2 --end=20 ${record}`).status).toBe(0);
    expect(run('triscope info run.tri').status).toBe(0);
    expect(run('triscope query run.tri "SELECT 1"')).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/^triscope: queries need DuckDB.*npm install @duckdb.*\n$/),
    });
    run('echo "export default 1" > model.ts');
    expect(run('triscope sim run model.ts')).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/^triscope: .*esbuild.*--omit=optional\n$/),
    });
  });

  describe('tutorials', () => {
    it.each([
      ['x  …', 'x    17', true],
      ['…\ny', 'a\nb\ny', true],
      ['y', 'y z', false],
      ['a\n…', 'b\na', false],
    ])('%j shows %j: %s', (shown, printed, isSo) => {
      expect(patternOf(shown.split('\n')).test(`${printed}\n`)).toBe(isSo);
    });

    const hasMpi = ['mpicc', 'mpirun'].every((name) => spawnSync(name, ['--version']).status === 0);
    const missing: Readonly<Record<string, boolean>> = { 'mpi-programmer (needs mpicc)': !hasMpi };
    const titles = [
      'modeller',
      'mpi-programmer (needs mpicc)',
      'operator',
      'analyst',
      'experimenter',
    ];
    for (const title of titles) {
      it.skipIf(missing[title] === true)(
        `${title}: prints what it shows`,
        async () => {
          const name = title.split(' ')[0] as string;
          const text = readFileSync(join(ROOT, 'docs', 'tutorials', `${name}.md`), 'utf8');
          const room = await enter({ compilers: name === 'mpi-programmer' });
          expect(follow(text, room)).toEqual([]);
        },
        300_000,
      );
    }
  });
});
