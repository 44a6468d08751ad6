/**
 * `npm run container -- [FILE]`: Triscope as a container image, without an image of others: Debian's base by mmdebstrap, the folder of
 * `scripts/standalone.mjs` in /opt/triscope, put together by buildah into an OCI archive, FILE (`build/triscope-VERSION.oci.tar`).
 *
 *     podman load -i build/triscope-VERSION.oci.tar          or: skopeo, docker, apptainer build NAME.sif oci-archive:FILE
 *     podman run --rm triscope:VERSION sim run phold --end=100
 *
 * Needs root, and Debian's packages mmdebstrap and buildah. The image has Open MPI's run-time library (`--no-mpi` leaves it out);
 * `--base=TAR` takes a root file system that is there already, such as one that mmdebstrap made.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const RELEASE = 'bookworm';

const { values, positionals } = parseArgs({
  options: { mpi: { type: 'boolean', default: true }, base: { type: 'string' } },
  allowNegative: true,
  allowPositionals: true,
});

const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] }).trim();

/** Debian's packages of the base beside the essential ones. */
const packages = ['libstdc++6', ...(values.mpi ? ['openmpi-bin', 'libopenmpi3'] : [])];

/** Base, folder and settings as an OCI archive. */
function build(file, folder) {
  const base = resolve(values.base ?? join(folder, 'base.tar'));
  if (values.base === undefined) {
    run('mmdebstrap', '--variant=minbase', `--include=${packages.join(',')}`, RELEASE, base);
  }
  const [made] = run(process.execPath, join(ROOT, 'scripts', 'standalone.mjs'), folder).split('\n');
  const buildah = (...args) => run('buildah', '--storage-driver=vfs', ...args);
  const container = buildah('from', 'scratch');
  try {
    buildah('add', '--quiet', container, base, '/');
    buildah('add', '--quiet', container, made, '/opt/triscope');
    const settings = ['--entrypoint', '["/opt/triscope/bin/triscope"]', '--cmd', '--help'];
    const labels = [
      '--label',
      `org.opencontainers.image.version=${version}`,
      '--label',
      'org.opencontainers.image.licenses=Apache-2.0',
    ];
    buildah(
      'config',
      ...settings,
      ...labels,
      '--env',
      'PATH=/opt/triscope/bin:/usr/bin:/bin',
      container,
    );
    mkdirSync(dirname(file), { recursive: true });
    buildah('commit', '--quiet', container, `oci-archive:${file}:triscope:${version}`);
  } finally {
    buildah('rm', container);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'triscope-container-'));
try {
  const file = resolve(positionals[0] ?? join('build', `triscope-${version}.oci.tar`));
  if (existsSync(file)) throw new Error(`${file}: is there already; remove it first`);
  build(file, folder);
  console.log(file);
} catch (error) {
  const missing = error.code === 'ENOENT' ? ': apt-get install mmdebstrap buildah' : '';
  process.stderr.write(`container: ${error.message}${missing}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
