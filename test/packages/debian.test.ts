/** The Debian package and the container image: made, put into a small Debian that has nothing else, and used there. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const isThere = (name: string) => spawnSync(name, ['--version']).status === 0;
const tools = ['mmdebstrap', 'buildah', 'dpkg-deb'];
const canMake = process.getuid?.() === 0 && tools.every(isThere);
// No hook runs in a file whose tests are all skipped.
const folder = canMake ? mkdtempSync(join(tmpdir(), 'debian-')) : 'none';

const script = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(ROOT, 'scripts', name), ...args], { encoding: 'utf8' });

const unpack = (archive: string, into: string) => {
  mkdirSync(into, { recursive: true });
  spawnSync('tar', ['-xf', archive, '-C', into], { stdio: 'ignore' });
};

/** Enters a root, as a container's runtime does. */
const within = (root: string, ...words: string[]) =>
  execFileSync('chroot', [root, ...words], { encoding: 'utf8' });

/** Simulates with a recording, and asks that. */
function expectToWork(root: string, triscope: string) {
  const record = ['sim', 'run', 'phold', '--end=20', '--engine-stats=gvt', '--record=/run'];
  const simulated = JSON.parse(within(root, triscope, ...record, '--json'));
  const sql = 'SELECT sum(events_processed) AS n FROM ross_pe';
  const [row] = JSON.parse(within(root, triscope, 'query', '/run.tri', sql, '--json'));
  expect(row.n).toBe(simulated.eventsProcessed);
}

describe.skipIf(!canMake)('in a small Debian (needs mmdebstrap and buildah)', () => {
  const base = join(folder, 'base.tar');
  afterAll(() => rmSync(folder, { recursive: true, force: true }), 900_000);
  beforeAll(() => {
    const words = ['--quiet', '--variant=minbase', '--include=libstdc++6', 'bookworm', base];
    execFileSync('mmdebstrap', words, { stdio: 'ignore' });
  }, 900_000);

  it('npm run standalone -- --deb makes a package that installs, simulates, queries, and leaves nothing behind', () => {
    script('command-docs.mjs', '--man');
    const made = script('standalone.mjs', folder, '--deb');
    const file = made.trim().split('\n').at(-1) as string;
    expect(file).toMatch(/triscope_[\d.]+_(amd64|arm64)\.deb$/);

    const root = join(folder, 'root');
    unpack(base, root);
    copyFileSync(file, join(root, basename(file)));
    // It ends with an error where something that the package depends on is missing.
    within(root, 'dpkg', '--install', `/${basename(file)}`);

    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(within(root, 'triscope', '--version').trim()).toBe(version);
    expectToWork(root, 'triscope');
    expect(within(root, 'dpkg', '--listfiles', 'triscope')).toContain('/man1/triscope-sim-run.1');

    within(root, 'dpkg', '--remove', 'triscope');
    for (const path of ['opt/triscope', 'usr/bin/triscope']) {
      expect(existsSync(join(root, path))).toBe(false);
    }
  }, 900_000);

  it('npm run container makes an image that simulates, records and answers', () => {
    const file = join(folder, 'triscope.oci.tar');
    expect(script('container.mjs', `--base=${base}`, file)).toBe(`${file}\n`);
    const layout = join(folder, 'layout');
    const root = join(folder, 'image');
    unpack(file, layout);
    const layers = execFileSync('sh', ['-c', 'ls -S blobs/sha256/*'], {
      cwd: layout,
      encoding: 'utf8',
    });
    for (const layer of layers.trim().split('\n')) unpack(join(layout, layer), root);
    expectToWork(root, '/opt/triscope/bin/triscope');
  }, 900_000);
});
