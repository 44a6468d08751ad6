/**
 * Bundles a TypeScript file of `test` into one script, so that it runs without vitest and on every Node. Its imports of the
 * package resolve to `dist`. Returns the script's path, in a folder of its own that is removed when the process ends.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The compiled file of the package that an import names. */
function compiled(path) {
  const source = /^(?:\.\.\/)+src\/(.+)\.ts$/.exec(path);
  if (source !== null) return join(ROOT, 'dist', `${source[1]}.js`);
  const front = exports[`.${path.slice('triscope'.length)}`];
  return front === undefined ? null : join(ROOT, front.default);
}

const fromDist = {
  name: 'from-dist',
  setup({ onResolve }) {
    onResolve({ filter: /^(triscope(\/|$)|(\.\.\/)+src\/)/ }, ({ path }) => {
      const file = compiled(path);
      return file === null ? null : { path: pathToFileURL(file).href, external: true };
    });
  },
};

/** @param entry path below the checkout */
export async function bundled(entry) {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-script-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'script.mjs');
  await build({
    entryPoints: [join(ROOT, entry)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    plugins: [fromDist],
    logLevel: 'warning',
  });
  return outfile;
}
