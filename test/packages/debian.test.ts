/** The Debian package: made, installed into a small Debian that has nothing else, used there, and removed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'debian-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isThere = (name: string) => spawnSync(name, ['--version']).status === 0;
const canInstall = isThere('mmdebstrap') && isThere('dpkg-deb') && process.getuid?.() === 0;

describe.skipIf(!canInstall)('npm run standalone -- --deb (needs mmdebstrap)', () => {
  it('makes a package that installs, simulates, queries, and leaves nothing behind', () => {
    const script = (name: string, ...args: string[]) =>
      execFileSync(process.execPath, [join(ROOT, 'scripts', name), ...args], { encoding: 'utf8' });
    script('command-docs.mjs', '--man');
    const made = script('standalone.mjs', folder, '--deb');
    const file = made.trim().split('\n').at(-1) as string;
    expect(file).toMatch(/triscope_[\d.]+_(amd64|arm64)\.deb$/);

    const root = join(folder, 'root');
    const include = '--include=libstdc++6';
    execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', include, 'bookworm', root], {
      stdio: 'ignore',
    });
    copyFileSync(file, join(root, basename(file)));
    const within = (...words: string[]) =>
      execFileSync('chroot', [root, ...words], { encoding: 'utf8' });
    // It ends with an error where something that the package depends on is missing.
    within('dpkg', '--install', `/${basename(file)}`);

    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(within('triscope', '--version').trim()).toBe(version);
    const record = ['sim', 'run', 'phold', '--end=20', '--engine-stats=gvt', '--record=/run'];
    const simulated = JSON.parse(within('triscope', ...record, '--json'));
    const sql = 'SELECT sum(events_processed) AS n FROM ross_pe';
    const [row] = JSON.parse(within('triscope', 'query', '/run.tri', sql, '--json'));
    expect(row.n).toBe(simulated.eventsProcessed);
    expect(within('dpkg', '--listfiles', 'triscope')).toContain('/man1/triscope-sim-run.1');

    within('dpkg', '--remove', 'triscope');
    for (const path of ['opt/triscope', 'usr/bin/triscope']) {
      expect(existsSync(join(root, path))).toBe(false);
    }
  }, 900_000);
});
