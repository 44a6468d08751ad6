/** `triscope sim new` and `sim run --check`: a model that runs, type-checks and is tested, and what is said of a wrong one. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder, triscope } from './support/run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true }));

test('a new model runs and passes its test; type errors of a wrong one are placed', async () => {
  const made = await triscope(['sim', 'new', 'shop'], { cwd: folder });
  expect([made.code, made.err]).toEqual([0, '']);
  const files = ['shop.ts', 'shop.test.mjs', 'shop.args', 'package.json', 'tsconfig.json'];
  expect(made.out.split('\n').slice(0, 5)).toEqual(files.map((file) => join('shop', file)));

  // As npm would install it.
  const shop = join(folder, 'shop');
  mkdirSync(join(shop, 'node_modules'));
  symlinkSync(ROOT, join(shop, 'node_modules', 'triscope'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const tested = await promisify(execFile)(process.execPath, ['--test', 'shop.test.mjs'], {
    cwd: shop,
    env,
  });
  expect(tested.stdout).toMatch(/pass 2\n/);

  // It imports the right one, of which nothing is said.
  const wrong = readFileSync(join(shop, 'shop.ts'), 'utf8')
    .replace('state.served++', 'state.servd++')
    .replace('import { ', "import './shop.ts';\nimport { ");
  writeFileSync(join(shop, 'wrong.ts'), wrong);
  const line = wrong.split('\n').findIndex((text) => text.includes('servd')) + 1;
  const checked = await triscope(['sim', 'run', 'shop/wrong.ts', '--check', '--end=10'], {
    cwd: folder,
  });
  expect(checked.code).toBe(1);
  expect(checked.out).toBe('');
  const [first, last, ...more] = checked.err.trim().split('\n');
  expect(first).toMatch(
    new RegExp(`^triscope: shop/wrong\\.ts:${line}:\\d+: Property 'servd' does not exist`),
  );
  expect([last, more]).toEqual(["triscope: model 'shop' has one type error", []]);

  const again = await triscope(['sim', 'new', 'shop'], { cwd: folder });
  expect([again.code, again.err]).toEqual([
    2,
    'triscope: shop: exists already; choose another name\n',
  ]);
  expect(existsSync(join(folder, 'Shop'))).toBe(false);
});
