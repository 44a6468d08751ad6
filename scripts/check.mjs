/** `npm run check`: types, the page and style at the same time; prints what each found, and fails if one of them does. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Programs below `node_modules`, and their arguments. */
const CHECKS = [
  ['typescript-native/bin/tsc', '--noEmit'],
  [
    '.bin/svelte-check',
    '--workspace',
    'web',
    '--tsconfig',
    './tsconfig.json',
    '--fail-on-warnings',
  ],
  ['.bin/biome', 'check', '--error-on-warnings', '.'],
];

await import('./ready.mjs');
const ends = await Promise.all(CHECKS.map(run));
for (const { words, code, output } of ends) {
  console.log(`${words.join(' ')}: ${code === 0 ? 'ok' : `failed with code ${code}`}`);
  process.stdout.write(output);
  if (code !== 0) process.exitCode = 1;
}

function run(words) {
  const [name, ...args] = words;
  const child = spawn(join(ROOT, 'node_modules', name), args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  const keep = (data) => {
    output += data;
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ words, code: 1, output: `${message}\n` }));
    child.on('close', (code) => resolve({ words, code: code ?? 1, output }));
  });
}
