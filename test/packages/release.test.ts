/** `npm run release`, in a small checkout of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'release-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const release = (...args: string[]) =>
  spawnSync(process.execPath, [SCRIPT, ...args], { cwd: folder, encoding: 'utf8' });

beforeAll(() => {
  mkdirSync(join(folder, '.ci'));
  write('.ci/run', 'test ! -e broken\n');
  write('.gitignore', 'build/\n');
  write('package.json', '{ "name": "small", "version": "1.1.0", "files": ["a.txt"] }\n');
  write('a.txt', 'a\n');
  write(
    'CHANGELOG.md',
    '# Changelog\n\n## 1.2.0 (unreleased)\n\n- New.\n\n## 1.1.0 (2026-01-02)\n\n- Old.\n',
  );
  git('init', '--quiet');
  git('config', 'user.name', 'Somebody');
  git('config', 'user.email', 'somebody@localhost');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Small');
});

describe('npm run release', () => {
  it.each([
    ['1.2', '1.2: a version is three numbers, such as 1.4.0'],
    ['1.1.0', '1.1.0 is not above the present version, 1.1.0'],
    ['1.0.9', '1.0.9 is not above the present version, 1.1.0'],
  ])('refuses %s', (version, told) => {
    expect(release(version)).toMatchObject({ status: 1, stderr: `release: ${told}\n` });
  });

  it('refuses a tree with changes, and what fails its checks, and leaves nothing of it', () => {
    write('broken', '');
    expect(release('1.2.0').stderr).toContain('the working tree has changes:\n?? broken');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Broken');
    const { status, stderr } = release('1.2.0');
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('.ci/run failed, so that nothing'),
    ]);
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', '']);
    git('reset', '--quiet', '--hard', 'HEAD~1');
  });

  it('says what it would release', () => {
    expect(release('1.2.0', '--dry-run').stdout).toBe('v1.2.0 can be released:\n\n- New.\n');
  });

  it('packs, with digest and provenance, commits and tags', () => {
    const { status, stdout, stderr } = release('1.2.0');
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const file = join(folder, 'build', 'release', 'small-1.2.0.tgz');
    expect(stdout).toBe(`${file}\n\ngit push --follow-tags\nnpm publish --access public ${file}\n`);
    const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(read('build/release/small-1.2.0.tgz.sha256')).toBe(`${digest}  small-1.2.0.tgz\n`);
    const { subject, predicate } = JSON.parse(
      read('build/release/small-1.2.0.tgz.provenance.json'),
    );
    expect(subject).toEqual([{ name: 'small-1.2.0.tgz', digest: { sha256: digest } }]);
    const [{ digest: source }] = predicate.buildDefinition.resolvedDependencies;
    expect(source).toEqual({ gitCommit: git('rev-parse', 'v1.2.0^{commit}').trim() });
    expect(git('tag', '--list', '--format=%(contents)', 'v1.2.0').trim()).toBe('v1.2.0\n\n- New.');
    expect(read('CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## 1\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- New\./,
    );
    expect(JSON.parse(read('package.json')).version).toBe('1.2.0');
    expect(git('status', '--porcelain')).toBe('');
  });

  it('refuses the same again, and a changelog without a new section', () => {
    expect(release('1.2.0').stderr).toContain('the tag v1.2.0 exists');
    expect(release('1.3.0').stderr).toContain('its first section must be “VERSION (unreleased)”');
  });
});
