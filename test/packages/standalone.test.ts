/** Files that bring Triscope to a machine: the folder that needs no npm, and what other tools read. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
// A blank, and letters that are not ASCII.
const base = mkdtempSync(join(tmpdir(), 'triscope größer als '));
afterAll(() => rmSync(base, { recursive: true }));

let made = '';

describe('npm run standalone', () => {
  it('makes a folder that runs without npm, checkout and environment', () => {
    made = execFileSync(process.execPath, [join(ROOT, 'scripts', 'standalone.mjs'), base], {
      encoding: 'utf8',
    }).trim();
    expect(made.startsWith(base)).toBe(true);
    const modules = join(made, 'lib', 'triscope', 'node_modules');
    expect(existsSync(join(modules, '@duckdb', 'node-api'))).toBe(true);
    for (const dev of ['vitest', 'typescript', 'svelte']) {
      expect(readdirSync(modules)).not.toContain(dev);
    }
    const run = (...args: string[]) =>
      execFileSync(
        '/usr/bin/env',
        ['-i', 'PATH=/usr/bin:/bin', join(made, 'bin', 'triscope'), ...args],
        {
          encoding: 'utf8',
          cwd: base,
        },
      );
    const simulated = JSON.parse(
      run('sim', 'run', 'phold', '--end=20', '--engine-stats=gvt', '--record=run', '--json'),
    );
    const [row] = JSON.parse(
      run('query', 'run.tri', 'SELECT sum(events_processed) AS n FROM ross_pe', '--json'),
    );
    expect(row.n).toBe(simulated.eventsProcessed);
  });

  it('replaces nothing', () => {
    const again = () =>
      execFileSync(process.execPath, [join(ROOT, 'scripts', 'standalone.mjs'), base], {
        stdio: ['ignore', 'ignore', 'pipe'],
        encoding: 'utf8',
      });
    expect(again).toThrow(/is there already; remove it first/);
  });
});

describe('what other tools read', () => {
  it.each(['.github/workflows/test.yml', '.github/workflows/release.yml', '.gitlab-ci.yml'])(
    '%s is YAML, and runs .ci/run',
    (path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      expect(Object.keys(parse(text))).toContain(path.includes('gitlab') ? 'test' : 'jobs');
      expect(text).toContain('bash .ci/run');
    },
  );

  it('the module file is Tcl whose braces and brackets close, and sets what is in the package', () => {
    const text = readFileSync(join(ROOT, 'examples', 'cluster', 'triscope.modulefile'), 'utf8');
    expect(text.startsWith('#%Module1.0\n')).toBe(true);
    const code = text.replaceAll(/^\s*#.*$/gm, '').replaceAll(/"[^"\n]*"/g, '""');
    const count = (character: string) => code.split(character).length - 1;
    expect([count('{'), count('['), count('"') % 2]).toEqual([count('}'), count(']'), 0]);
    const words = new Set(code.split('\n').map((line) => line.split(/\s+/)[0]));
    const known = ['', '}', 'set', 'proc', 'module-whatis', 'conflict', 'prepend-path'];
    expect([...words].filter((word) => !known.includes(word as string))).toEqual([]);
    expect(code).toContain('prepend-path PATH $prefix/bin');
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  it.skipIf(!hasPython)('the recipe for Spack is Python (needs python3)', () => {
    const check = 'import ast, sys; ast.parse(open(sys.argv[1]).read())';
    const path = join(ROOT, 'examples', 'cluster', 'spack-package.py');
    expect(spawnSync('python3', ['-c', check, path]).status).toBe(0);
  });
});
