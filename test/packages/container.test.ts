/** The container image: made from Debian's packages and the checkout alone, and run. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'container-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isThere = (name: string) => spawnSync(name, ['--version']).status === 0;
const canBuild = isThere('mmdebstrap') && isThere('buildah') && process.getuid?.() === 0;

describe.skipIf(!canBuild)('npm run container (needs mmdebstrap and buildah)', () => {
  it('makes an image that simulates, records and answers', () => {
    const file = join(folder, 'triscope.oci.tar');
    const script = join(ROOT, 'scripts', 'container.mjs');
    const args = [script, '--no-mpi', file];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(`${file}\n`);
    // Its files as a folder, entered as a root: what a container's runtime does, without one.
    const layout = join(folder, 'layout');
    const root = join(folder, 'root');
    for (const path of [layout, root]) execFileSync('mkdir', [path]);
    execFileSync('tar', ['-xf', file, '-C', layout]);
    const layers = execFileSync('sh', ['-c', 'ls -S blobs/sha256/*'], {
      cwd: layout,
      encoding: 'utf8',
    });
    for (const layer of layers.trim().split('\n')) {
      spawnSync('tar', ['-xf', join(layout, layer), '-C', root], { stdio: 'ignore' });
    }
    const triscope = (...words: string[]) =>
      execFileSync('chroot', [root, '/opt/triscope/bin/triscope', ...words], { encoding: 'utf8' });
    const record = [
      'sim',
      'run',
      'phold',
      '--end=20',
      '--engine-stats=gvt',
      '--record=/run',
      '--json',
    ];
    const simulated = JSON.parse(triscope(...record));
    const sql = 'SELECT sum(events_processed) AS n FROM ross_pe';
    const [row] = JSON.parse(triscope('query', '/run.tri', sql, '--json'));
    expect(row.n).toBe(simulated.eventsProcessed);
  }, 900_000);
});
