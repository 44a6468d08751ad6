/** The examples run, with and without a controller. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { counts, ended, freshFolder, marked, start } from './pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const example = (name: string) => join(ROOT, 'examples', name);
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

describe('the example', () => {
  it('in Node marks two threads', async () => {
    const command = [process.execPath, example('region-app.mjs')];
    const { seen, page, code } = await marked(command);
    expect(code).toBe(0);
    expect(counts(seen)).toEqual({
      step: 40,
      'step/arithmetic': 40,
      'step/walk': 40,
      wait: 0,
      'async wait': 40,
    });
    expect(page.epochs).toBe(20);
    expect((await ended(start(command, ''))).stderr).toBe('');
  });

  it.skipIf(!has('cc'))('in C marks through both interfaces (needs cc)', async () => {
    const program = join(freshFolder(), 'region-app');
    const native = join(ROOT, 'native');
    const files = [example('region-app.c'), join(native, 'triscope_region.c')];
    execFileSync('cc', ['-O2', '-I', native, '-o', program, ...files, '-pthread']);
    const { seen, page, code } = await marked([program]);
    expect(code).toBe(0);
    expect(counts(seen)).toEqual({ arithmetic: 20, wait: 20 });
    expect(page.epochs).toBe(20);
  });

  it.skipIf(!has('python3'))(
    'in Python marks as decorators and context managers (needs python3)',
    async () => {
      const env = { PYTHONDONTWRITEBYTECODE: '1' };
      const { seen, page, code } = await marked(['python3', example('region-app.py')], env);
      expect(code).toBe(0);
      expect(counts(seen)).toEqual({ arithmetic: 20, wait: 20 });
      expect(page.epochs).toBe(20);
    },
  );
});
