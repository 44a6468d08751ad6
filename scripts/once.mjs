/**
 * Makes `dist/cli/quick.js` and `quick.cache` for `bin/triscope`: the commands of `src/cli/once.ts` in one file, and what
 * V8 has compiled of it. V8 refuses the latter where it is of another version or has other flags; then it compiles.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** `dist`: the compiled package. */
export async function makeQuick(dist) {
  await build({
    entryPoints: [join(dist, 'cli', 'once.js')],
    outfile: join(dist, 'cli', 'quick.js'),
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    // Loaded by bin/triscope as a function of `require`: cheaper than a module.
    format: 'cjs',
    external: ['koffi'],
    // Files that are started by their names lie beside the types of the collector.
    define: { 'import.meta.url': 'here' },
    banner: {
      js: "const here=require('url').pathToFileURL(require('path').join(__dirname,'../node/types/-')).href;",
    },
    logLevel: 'warning',
  });
  const cache = join(dist, 'cli', 'quick.cache');
  rmSync(cache, { force: true });
  // A run tells V8 which functions are needed.
  const log = mkdtempSync(join(tmpdir(), 'triscope-'));
  spawnSync(
    process.execPath,
    [join(dist, '..', 'bin', 'triscope'), 'node', 'collect', '--dir', log],
    { stdio: 'ignore', timeout: 60_000, env: { ...process.env, TRISCOPE_WRITE_CACHE: cache } },
  );
  rmSync(log, { recursive: true });
}
