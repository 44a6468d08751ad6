/**
 * `npm test`: makes the checkout ready, runs every test that can run, names each group that was skipped
 * and the command that enables it, and (in CI, where a test that fails has a second try) each test that passed only
 * then. Arguments go on to vitest. The last line is
 *
 *     N passed, N failed, N skipped
 *
 * TRISCOPE_REQUIRE_ALL=1 counts what a missing tool keeps from running as failed.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

await import('./ready.mjs');

// Node reads the certificates that this names as it starts: 0.1 s for each of some thousand processes that talk to
// this machine alone.
delete process.env.NODE_EXTRA_CA_CERTS;

/**
 * What tests may need beyond Node: a test group that may be skipped says so in its title, "(needs NAME)".
 * `optional` ones may be absent even where all is required.
 */
const NEEDS = {
  TRISCOPE_GOLDEN: {
    command: 'TRISCOPE_GOLDEN=/path/to/golden npm test',
    optional: process.env.TRISCOPE_GOLDEN === undefined,
  },
  // Of a public repository, and a minute.
  GEOPM_TUTORIALS: {
    command: 'GEOPM_TUTORIALS=/path/to/integration/tutorial npm test',
    optional: true,
  },
  // Half a minute, for who changes documents.
  'npm run docs': { command: 'npm run docs', optional: true },
  // Large, for two examples of a document.
  'python3-pandas': { command: 'apt-get install python3-pandas', optional: true },
  // Of pip alone.
  'the Python package polars': { command: 'pip install polars', optional: true },
  // Virtual machines have none.
  'a PMU': { command: 'a machine whose processor counts instructions', optional: true },
  'r-base-core': { command: 'apt-get install r-base-core', optional: true },
  // Minutes, root and 100 MB of Debian's packages: for changes to scripts/standalone.mjs and container.mjs.
  'mmdebstrap and buildah': { command: 'apt-get install mmdebstrap buildah', optional: true },
};
const BY_SETUP = { command: 'npm run setup', optional: false };
/** Another Node than the one that runs the tests. */
const BY_NODES = { command: 'npm run nodes', optional: false };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const requireAll = process.env.TRISCOPE_REQUIRE_ALL === '1';
const golden = process.env.TRISCOPE_GOLDEN;
if (golden !== undefined && !existsSync(golden)) {
  process.stderr.write(`TRISCOPE_GOLDEN=${golden}: no such folder\n`);
  process.exit(1);
}

// Also for all temporary folders of tests, some of which run as other users: gone at the end.
const folder = mkdtempSync(join(tmpdir(), 'triscope-'));
chmodSync(folder, 0o1777);
const file = join(folder, 'results.json');
const code = await runVitest([
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${file}`,
  ...process.argv.slice(2),
]);
const suites = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : [];
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

const { passed, failed, retried, groups } = count(suites);
for (const { title, why } of retried) console.log(`passed on the second try: ${title}\n${why}`);
let missing = 0;
for (const [title, { need, tests, path }] of groups) {
  const { command, optional } =
    NEEDS[need] ?? (need === null ? {} : /^Node /.test(need) ? BY_NODES : BY_SETUP);
  const lacking = requireAll && optional !== true;
  if (lacking) missing += tests;
  console.log(
    `${lacking ? 'missing' : 'skipped'}: ${title}, ${tests} ${tests === 1 ? 'test' : 'tests'} in ${path}${command ? `; to run them: ${command}` : ''}`,
  );
}
const skipped = [...groups.values()].reduce((sum, { tests }) => sum + tests, 0);
if (passed + failed === 0) console.log('no test ran');
process.exitCode = code !== 0 ? code : failed + missing > 0 || passed === 0 ? 1 : 0;
console.log(`${passed} passed, ${failed + missing} failed, ${skipped - missing} skipped`);

/** Runs vitest to its end; returns its exit code. */
function runVitest(args) {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, 'run', ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, TMPDIR: folder },
    });
    // Ctrl-C reaches vitest too, which then ends by itself.
    process.on('SIGINT', () => {});
    child.on('exit', (status, signal) => resolve(status ?? (signal === 'SIGINT' ? 130 : 1)));
    child.on('error', () => resolve(1));
  });
}

/** Counts by status; the skipped by group: the part of the title that names a need, else the test file. */
function count(results) {
  const total = { passed: 0, failed: 0, retried: [], groups: new Map() };
  for (const { name, status, assertionResults } of results) {
    const path = relative(ROOT, name);
    // A file that could not even be loaded has no tests to blame.
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      total.failed++;
    }
    for (const test of assertionResults) {
      const titles = [...test.ancestorTitles, test.title];
      if (test.status === 'passed') {
        total.passed++;
        // What it failed with at first is still told.
        if (test.failureMessages.length > 0) {
          const why = test.failureMessages[0].split('\n').slice(0, 20).join('\n  ');
          total.retried.push({ title: [path, ...titles].join(' > '), why: `  ${why}` });
        }
      } else if (test.status === 'failed') total.failed++;
      else {
        const named = titles.find((title) => /\(needs [^)]+\)/.test(title));
        const title = named ?? path;
        const need = named?.match(/\(needs ([^)]+)\)/)?.[1] ?? null;
        const group = total.groups.get(title) ?? { need, tests: 0, path };
        group.tests++;
        total.groups.set(title, group);
      }
    }
  }
  return total;
}
