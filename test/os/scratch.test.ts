/** Folders for temporary files, and what is left of those whose process was killed. */
import { spawn } from 'node:child_process';
import { existsSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../src/os/scratch.ts';
import { until } from '../support/until.ts';

const SCRATCH = fileURLToPath(new URL('../../dist/os/scratch.js', import.meta.url));
const PREFIX = `triscope-scratch-test-${process.pid}-`;

/** A process with a folder of its own, which it keeps until it is killed. */
async function owner(): Promise<{ path: string; kill: () => Promise<void> }> {
  const text = `import { scratchFolder } from ${JSON.stringify(SCRATCH)};
    process.stdout.write(scratchFolder(${JSON.stringify(PREFIX)}).path);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const path = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    path,
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

it('what a killed process has left is removed by the next, and nothing of one that lives', async () => {
  const [dead, alive] = await Promise.all([owner(), owner()]);
  await dead.kill();
  expect([dead.path, alive.path].map((path) => existsSync(path))).toEqual([true, true]);
  const own = scratchFolder(PREFIX);
  expect([dead.path, alive.path, own.path].map((path) => existsSync(path))).toEqual([
    false,
    true,
    true,
  ]);
  own.remove();
  await alive.kill();
  scratchFolder(PREFIX).remove();
  expect([alive.path, own.path].map((path) => existsSync(path))).toEqual([false, false]);
});

it('is removed with what tells its owner last, so that who is killed meanwhile leaves what the next removes', async () => {
  const own = scratchFolder(PREFIX);
  for (const name of ['.a', 'b']) writeFileSync(join(own.path, name), '');
  const gone: string[] = [];
  const watcher = watch(own.path, (_, name) => {
    const isNew = name !== null && /^(\.a|b|\.owner)$/.test(name) && !gone.includes(name);
    if (isNew) gone.push(name);
  });
  own.remove();
  await until(() => gone.length === 3);
  watcher.close();
  expect(gone.at(-1)).toBe('.owner');
});
