/**
 * `npm run release -- VERSION [--out DIR] [--dry-run]`: makes a release of the checkout in which it is called. It
 *
 * 1. refuses: a working tree with changes, a version that is not above the present one, a tag that exists, a changelog
 *    without entries under its topmost, unreleased section;
 * 2. sets the version in package.json, package-lock.json and the changelog, with today's date;
 * 3. runs `.ci/run`, all that a change has to pass;
 * 4. packs the tarball into DIR (`build/release`), with its SHA-256 and its provenance (in-toto statement, SLSA 1.0: which
 *    commit, lock file, Node and npm it was made from);
 * 5. commits, and sets an annotated tag whose message is the changelog's section.
 *
 * Nothing leaves the machine: the last lines say which two commands publish it. `--dry-run` stops after the first step.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = process.cwd();
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const run = (command, ...args) =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] }).trim();
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const NUMBERS = /^(\d+)\.(\d+)\.(\d+)$/;
/** Whether version `a` is higher than `b`. */
function isAbove(a, b) {
  const [left, right] = [a, b].map((text) => NUMBERS.exec(text)?.slice(1).map(Number) ?? [0, 0, 0]);
  const k = left.findIndex((part, at) => part !== right[at]);
  return k >= 0 && left[k] > right[k];
}

/** The changelog's topmost section, which must be unreleased: its heading and its text. */
function unreleased(changelog) {
  const [, first = ''] = changelog.split(/^## /m);
  const end = first.indexOf('\n');
  const heading = first.slice(0, end);
  if (!/\(unreleased\)$|^Unreleased$/.test(heading)) {
    throw new Error('CHANGELOG.md: its first section must be “VERSION (unreleased)”');
  }
  const text = first.slice(end).trim();
  if (!/^- /m.test(text)) throw new Error(`CHANGELOG.md: there is no entry under “${heading}”`);
  return { heading, text };
}

function check(version) {
  if (!NUMBERS.test(version))
    throw new Error(`${version}: a version is three numbers, such as 1.4.0`);
  const changes = run('git', 'status', '--porcelain');
  if (changes !== '') throw new Error(`the working tree has changes:\n${changes}`);
  const tag = `v${version}`;
  if (run('git', 'tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists`);
  const present = JSON.parse(read('package.json')).version;
  const section = unreleased(read('CHANGELOG.md'));
  const isPresent = present === version && section.heading.startsWith(`${version} `);
  if (!isPresent && !isAbove(version, present)) {
    throw new Error(`${version} is not above the present version, ${present}`);
  }
  return { tag, section };
}

/** Writes the version into the files that contain it. */
function setVersion(version, { heading }) {
  for (const path of ['package.json', 'package-lock.json']) {
    if (!existsSync(join(ROOT, path))) continue;
    const json = JSON.parse(read(path));
    json.version = version;
    if (json.packages?.[''] !== undefined) json.packages[''].version = version;
    writeFileSync(join(ROOT, path), `${JSON.stringify(json, null, 2)}\n`);
  }
  const today = new Date().toISOString().slice(0, 10);
  const changelog = read('CHANGELOG.md').replace(`## ${heading}`, `## ${version} (${today})`);
  writeFileSync(join(ROOT, 'CHANGELOG.md'), changelog);
}

/** What the tarball was made from: https://slsa.dev/provenance/v1. */
function provenance(file, digest, commit) {
  const lock = 'package-lock.json';
  const git = { uri: 'git+file:.', digest: { gitCommit: commit } };
  const locked = existsSync(join(ROOT, lock))
    ? [{ uri: lock, digest: { sha256: sha256(read(lock)) } }]
    : [];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: file, digest: { sha256: digest } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm pack, by scripts/release.mjs',
        externalParameters: { command: ['npm', 'run', 'release'] },
        internalParameters: {
          node: process.version,
          npm: run('npm', '--version'),
          platform: `${process.platform}-${process.arch}`,
        },
        resolvedDependencies: [git, ...locked],
      },
      runDetails: {
        builder: { id: 'scripts/release.mjs' },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  };
}

/** Packs into `out`; returns the tarball's path. */
function pack(out, commit) {
  mkdirSync(out, { recursive: true });
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', out));
  const path = join(out, filename);
  const digest = sha256(readFileSync(path));
  writeFileSync(`${path}.sha256`, `${digest}  ${filename}\n`);
  const statement = provenance(filename, digest, commit);
  writeFileSync(`${path}.provenance.json`, `${JSON.stringify(statement, null, 2)}\n`);
  return path;
}

const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  allowPositionals: true,
});
try {
  const [version = ''] = positionals;
  const { tag, section } = check(version);
  if (values['dry-run']) {
    console.log(`${tag} can be released:\n\n${section.text}`);
  } else {
    setVersion(version, section);
    try {
      execFileSync('bash', ['.ci/run'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
    } catch (error) {
      run('git', 'checkout', '--', '.');
      throw new Error(`.ci/run failed, so that nothing was released (${error.message})`);
    }
    run('git', 'commit', '--all', '--message', `Version ${version}`);
    const path = pack(resolve(values.out ?? 'build/release'), run('git', 'rev-parse', 'HEAD'));
    run(
      'git',
      'tag',
      '--annotate',
      '--cleanup=verbatim',
      tag,
      '--message',
      `${tag}\n\n${section.text}\n`,
    );
    console.log(`${path}\n\ngit push --follow-tags\nnpm publish --access public ${path}`);
  }
} catch (error) {
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}
