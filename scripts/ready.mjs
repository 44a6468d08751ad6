/**
 * Makes a checkout runnable with nothing but Node and npm: fetches packages, compiles `src` into `dist` and `web` into
 * `dist/web`.
 * Says one line per step on stderr; quiet, and fast, where there is nothing to do.
 *
 *     node scripts/ready.mjs          from a shell
 *     await import('./ready.mjs')     from another script
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import script from '../bin/script.js';

const { buildOf } = script;
const LEAST = [20, 19];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const inRoot = (...parts) => join(ROOT, ...parts);
/** What the packages in `node_modules`, and the files in `dist`, were made from. */
const FETCHED = inRoot('node_modules', '.triscope-fetched');
const BUILT = inRoot('dist', '.built');
/** In which tsc says what it has written. */
const TOLD = inRoot('dist', '.tsbuildinfo');
/** The page: compiled by another build than the rest. */
const PAGE = inRoot('dist', 'web');
const PAGE_BUILT = join(PAGE, '.built');
/** What the page is made of: its own sources, and those that it shares with the server. */
const PAGE_SOURCES = ['web', 'src/view', 'src/formats', 'src/model'];

const say = (line) => process.stderr.write(`${line}\n`);
const fail = (line) => {
  say(line);
  process.exit(1);
};
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const mtime = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const hash = (text) => createHash('sha256').update(text).digest('hex');

/** Every file under `folder`, sorted. */
function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return;
  fail(`triscope needs Node ${LEAST.join('.')} or later; this is ${process.versions.node}`);
}

/**
 * Runs npm, and no script of a package: none is needed (docs/dependencies.md). Returns whether it succeeded. Where its output
 * is shown, failure ends it all.
 */
function npm(args, output) {
  say(`fetching packages: npm ${args.join(' ')}`);
  const run = spawnSync(
    'npm',
    [...args, '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'],
    {
      cwd: ROOT,
      stdio: output === 'inherit' ? ['ignore', 2, 2] : 'ignore',
      shell: process.platform === 'win32',
    },
  );
  if (run.error) fail(`npm cannot be run: ${run.error.message}`);
  if (run.status !== 0 && output === 'inherit')
    fail(`npm ${args[0]} failed with code ${run.status}`);
  return run.status === 0;
}

/** Fetches packages where there are none, or those of another lock file or platform. */
function fetchPackages() {
  const lock = inRoot('package-lock.json');
  const wanted = hash(
    [read(lock) || read(inRoot('package.json')), process.platform, process.arch].join('\n'),
  );
  if (read(FETCHED) === wanted) return;
  // npm's own record, where somebody has run `npm ci` by hand.
  const byHand = mtime(inRoot('node_modules', '.package-lock.json'));
  if (read(FETCHED) !== '' || byHand === 0 || byHand < mtime(lock)) {
    if (!existsSync(lock)) npm(['install'], 'inherit');
    // The lock file may lack packages for other platforms, where the registry it was made from lacks them.
    else if (!npm(['ci'], 'quiet')) npm(['install', '--no-save'], 'inherit');
  }
  writeFileSync(FETCHED, wanted);
}

/** Runs a script, its output on stderr; resolves to its exit code. */
function runNode(args) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Names, sizes and times of all that a build reads. */
function sourcesNow(sources) {
  const inputs = [...sources, inRoot('tsconfig.json'), inRoot('tsconfig.build.json'), FETCHED];
  return hash(
    inputs
      .map((path) => {
        const { size, mtimeMs } = statSync(path);
        return `${relative(ROOT, path)} ${size} ${path === FETCHED ? read(FETCHED) : mtimeMs}`;
      })
      .join('\n'),
  );
}

/** Its sources, and what tsc last wrote: another tsc may have been there since. */
const builtFrom = (sources) =>
  `${sourcesNow([...sources, ...filesUnder(inRoot('bin'))])} ${buildOf(inRoot('dist'))}`;

/** What tsc makes of a source; and its declaration, and its map. */
const outputOf = (path, end = '.js') =>
  inRoot('dist', relative(inRoot('src'), path).replace(/\.ts$/, end));

/** Removes what earlier builds made, but not from these sources. */
function removeStale(sources) {
  const expected = new Set(
    sources.flatMap((path) => ['.js', '.js.map', '.d.ts'].map((end) => outputOf(path, end))),
  );
  // Not the page, which its own build may be writing.
  const made = readdirSync(inRoot('dist'))
    .map((name) => inRoot('dist', name))
    .filter((path) => path !== PAGE && path !== TOLD)
    .flatMap((path) => (statSync(path).isDirectory() ? filesUnder(path) : [path]));
  for (const path of made) if (!expected.has(path)) rmSync(path);
}

/** Types that compilers before TypeScript 5.7 and 5.4 do not know, and the plainer ones that all know. */
const NEWER = [
  [
    /\b((?:Big)?(?:Ui|I)nt\d+Array|Float(?:32|64)Array|Buffer|DataView)<(?:Shared)?ArrayBuffer(?:Like)?>/g,
    '$1',
  ],
  [/\bNoInfer<(\w+)>/g, '$1'],
];

/** Makes a declaration file one that TypeScript from 5.0 on reads. */
function plainTypes(path) {
  const text = readFileSync(path, 'utf8');
  const plain = NEWER.reduce((now, [newer, older]) => now.replace(newer, older), text);
  if (plain !== text) writeFileSync(path, plain);
}

async function build() {
  const sources = filesUnder(inRoot('src')).filter((path) => path.endsWith('.ts'));
  if (read(BUILT) === builtFrom(sources)) return;
  // Types are checked once for all, by `npm run check`: here that would double the time.
  const args = ['-p', 'tsconfig.build.json', '--noCheck'];
  say(`compiling src into dist: tsc ${args.join(' ')}`);
  // tsc writes what has changed since it wrote TOLD: all, where some is missing.
  if (!existsSync(BUILT) || !sources.every((path) => existsSync(outputOf(path)))) {
    rmSync(TOLD, { force: true });
  }
  rmSync(BUILT, { force: true });
  const tsc = inRoot('node_modules', 'typescript-native', 'bin', 'tsc');
  if ((await runNode([tsc, ...args])) !== 0) fail('src does not compile');
  removeStale(sources);
  for (const path of sources) plainTypes(outputOf(path, '.d.ts'));
  const { makeScripts } = await import('../bin/link.mjs');
  await makeScripts(inRoot('dist'));
  writeFileSync(BUILT, builtFrom(sources));
}

async function buildPage() {
  const now = sourcesNow(PAGE_SOURCES.flatMap((folder) => filesUnder(inRoot(folder))));
  if (read(PAGE_BUILT) === now) return;
  say('building web into dist/web: vite build');
  const vite = inRoot('node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', 'web/vite.config.ts', '--logLevel', 'warn'];
  if ((await runNode(args)) !== 0) fail('web does not build');
  writeFileSync(PAGE_BUILT, now);
}

checkNode();
fetchPackages();
await Promise.all([build(), buildPage()]);
