/**
 * `npm run standalone -- [DIR] [--tar | --deb]`: Triscope with the Node that runs this script, in one folder that needs neither npm nor a network:
 *
 *     DIR/triscope-VERSION-linux-x64/bin/triscope
 *
 * `--tar` packs the folder beside itself (.tar.gz), `--deb` makes a Debian package that installs it in /opt/triscope. Development
 * packages are left out. The folder runs on machines whose C library is at least as new as Node and DuckDB want (glibc 2.28).
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** Folders of the packages that are needed when it runs, as npm has installed them. */
function needed() {
  const { packages } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules', '.package-lock.json'), 'utf8'),
  );
  return Object.keys(packages).filter((path) => packages[path].dev !== true);
}

/** Files of the package, as npm would pack them. */
function packed() {
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  return files.map(({ path }) => path);
}

/** Finds its own folder, also through links such as /usr/bin/triscope. */
const START = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/../lib/node" "$here/../lib/triscope/bin/triscope" "$@"
`;

/** Makes the folder. Returns its path. */
function assemble(parent) {
  const folder = join(parent, `triscope-${version}-linux-${process.arch}`);
  if (existsSync(folder)) throw new Error(`${folder}: is there already; remove it first`);
  const home = join(folder, 'lib', 'triscope');
  mkdirSync(home, { recursive: true });
  for (const path of packed()) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(home, path));
  }
  chmodSync(join(home, 'bin', 'triscope'), 0o755);
  for (const path of needed()) {
    const source = join(ROOT, path);
    cpSync(source, join(home, path), {
      recursive: true,
      dereference: true,
      // What a package has of its own below it is listed by itself.
      filter: (file) => !file.slice(source.length).includes('/node_modules'),
    });
  }
  copyFileSync(process.execPath, join(folder, 'lib', 'node'));
  chmodSync(join(folder, 'lib', 'node'), 0o755);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'triscope'), START, { mode: 0o755 });
  return folder;
}

function tarOf(folder) {
  const file = `${folder}.tar.gz`;
  execFileSync('tar', ['-czf', file, '-C', dirname(folder), basename(folder)]);
  return file;
}

function debOf(folder) {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const file = join(dirname(folder), `triscope_${version}_${architecture}.deb`);
  const tree = `${folder}.deb-tree`;
  rmSync(tree, { recursive: true, force: true });
  for (const path of ['DEBIAN', 'opt', 'usr/bin', 'usr/share/man/man1']) {
    mkdirSync(join(tree, path), { recursive: true });
  }
  cpSync(folder, join(tree, 'opt', 'triscope'), { recursive: true });
  symlinkSync('/opt/triscope/bin/triscope', join(tree, 'usr', 'bin', 'triscope'));
  const pages = join(folder, 'lib', 'triscope', 'dist', 'man');
  if (existsSync(pages))
    cpSync(pages, join(tree, 'usr', 'share', 'man', 'man1'), { recursive: true });
  writeFileSync(
    join(tree, 'DEBIAN', 'control'),
    [
      'Package: triscope',
      `Version: ${version}`,
      `Architecture: ${architecture}`,
      'Maintainer: Triscope <triscope@localhost>',
      'Depends: libc6 (>= 2.28), libstdc++6',
      'Suggests: openmpi-bin, python3, rabbitmq-server, prometheus',
      'Section: science',
      'Priority: optional',
      `Description: ${description.replace(/\.$/, '')}`,
      '',
    ].join('\n'),
  );
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, file], {
    stdio: 'ignore',
  });
  rmSync(tree, { recursive: true });
  return file;
}

const { values, positionals } = parseArgs({
  options: { tar: { type: 'boolean' }, deb: { type: 'boolean' } },
  allowPositionals: true,
});
try {
  const folder = assemble(resolve(positionals[0] ?? 'build'));
  console.log(folder);
  if (values.tar) console.log(tarOf(folder));
  if (values.deb) console.log(debOf(folder));
} catch (error) {
  process.stderr.write(`standalone: ${error.message}\n`);
  process.exitCode = 1;
}
