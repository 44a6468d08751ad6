/**
 * Makes `dist/quick` for `bin/triscope`: what must start fast, each in one file, and what V8 has compiled of it. To load a
 * hundred files one by one takes longer than the rest of a short command. V8 refuses what was compiled by another version
 * or with other flags; then it compiles.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { link } from './link.mjs';

/** Bundles by name, and the file of `dist` that each is made of. */
const BUNDLES = {
  once: 'cli/once.js',
  launch: 'cli/launch.js',
  controller: 'region/controller/worker.js',
};

/** All commands, and the thread of a PE: too much, or too fast, to be bundled into one scope. */
const SCRIPTS = {
  main: 'cli/main.js',
  pe: 'sim/worker.js',
};
/** Loaded by the few commands that need them. */
const PACKAGES = Object.keys(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).dependencies,
).filter((name) => name !== 'commander');

const PHOLD = ['sim', 'run', 'phold', '--total-lps=256', '--lookahead=0.1', '--end=100'];

/** Runs that tell V8 which functions are needed. */
const RUNS = [
  ['node', 'collect', '--dir', 'log'],
  ['region', 'launch', '--geopm-period=0.005', '--geopm-trace=trace', '--', 'sleep', '0.5'],
  ['--version'],
  [...PHOLD, '--record=run'],
  [...PHOLD, '--pes=2', '--json'],
  ['query', 'run.tri', 'SELECT 1'],
  ['report', 'run.tri'],
  ['info', 'run.tri'],
];

/** Files that are found beside a file of `dist` are found from its bundle too; modules of the user by bin/quick.js. */
const outside = (dist) => ({
  name: 'outside',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const place = relative(dist, path);
      if (place.startsWith('..')) return undefined;
      const text = readFileSync(path, 'utf8');
      const contents = text
        .replaceAll('import.meta.url', `placeOf(${JSON.stringify(place)})`)
        .replaceAll(/\bimport\((?!['"])/g, 'load(');
      return { contents };
    });
  },
});

/** `dist`: the compiled package. */
export async function makeQuick(dist) {
  const folder = join(dist, 'quick');
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints: Object.entries(BUNDLES).map(([out, path]) => ({ in: join(dist, path), out })),
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    // Run as a function of `require`: cheaper than a module.
    format: 'cjs',
    external: ['koffi'],
    plugins: [outside(dist)],
    banner: {
      js: "const placeOf=f=>require('url').pathToFileURL(require('path').join(__dirname,'..',f)).href;",
    },
    logLevel: 'warning',
  });
  await Promise.all(
    Object.entries(SCRIPTS).map(async ([out, path]) =>
      writeFileSync(join(folder, `${out}.js`), await link(dist, path, PACKAGES)),
    ),
  );
  const cwd = mkdtempSync(join(tmpdir(), 'triscope-'));
  for (const args of RUNS) {
    spawnSync(process.execPath, [join(dist, '..', 'bin', 'triscope'), ...args], {
      cwd,
      stdio: 'ignore',
      timeout: 60_000,
      env: { ...process.env, TRISCOPE_WRITE_CACHE: '1' },
    });
  }
  rmSync(cwd, { recursive: true });
}
