/**
 * Installs the Debian packages that interop tests use: by apt-get if it runs as root; otherwise it prints the line to run.
 * `--check` only reports. Exit code 4 if something is still missing at the end.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Simulations over MPI. */
const MPI_TESTS = [
  'test/sim/mpi.test.ts',
  'test/cli/mpi.test.ts',
  'test/cli/mpi-hosts.test.ts',
  'test/region/mpi-marks.test.ts',
];

/** Programs that use MPI and OpenMP, marked by Triscope's libraries. */
const SHIM_TESTS = [
  'test/region/shims.test.ts',
  'test/cli/region-launch-shims.test.ts',
  'test/cli/region-geopm.test.ts',
];

/** What can be installed. Only packages that some test uses are listed: `usedBy` names the tests. */
const PACKAGES = [
  {
    name: 'openmpi-bin',
    command: 'mpirun',
    why: 'starts programs as MPI ranks',
    usedBy: [...MPI_TESTS, ...SHIM_TESTS, 'test/packages/standalone.test.ts'],
  },
  {
    name: 'libopenmpi-dev',
    command: 'mpicc',
    why: 'builds programs that use MPI',
    usedBy: [...MPI_TESTS, ...SHIM_TESTS, 'test/packages/standalone.test.ts'],
  },
  {
    name: 'iproute2',
    command: 'ip',
    why: 'makes hosts of their own out of namespaces',
    usedBy: ['test/cli/mpi-hosts.test.ts'],
  },
  { name: 'clang', command: 'clang', why: 'builds programs that use OpenMP', usedBy: SHIM_TESTS },
  { name: 'libomp-dev', command: '', why: "clang's OpenMP runtime", usedBy: SHIM_TESTS },
  {
    name: 'gfortran',
    command: 'gfortran',
    why: 'builds programs in Fortran: 10 MB to fetch, 35 MB installed',
    usedBy: ['test/cli/region-geopm.test.ts'],
  },
  {
    name: 'python3',
    command: 'python3',
    why: 'runs programs that mark regions in Python',
    usedBy: [
      'test/region/native.test.ts',
      'test/region/examples.test.ts',
      'test/cli/completion.test.ts',
      'test/packages/standalone.test.ts',
    ],
  },
  {
    name: 'zsh',
    command: 'zsh',
    why: 'completes commands',
    usedBy: ['test/cli/completion.test.ts'],
  },
  {
    name: 'fish',
    command: 'fish',
    why: 'completes commands',
    usedBy: ['test/cli/completion.test.ts'],
  },
  {
    name: 'rabbitmq-server',
    command: 'rabbitmq-server',
    why: 'a broker for AMQP',
    usedBy: ['test/live/amqp/amqp.test.ts', 'test/cli/node-amqp.test.ts'],
  },
  {
    name: 'prometheus',
    command: 'promtool',
    why: 'imports and scrapes metrics: 22 MB to fetch, 330 MB installed',
    usedBy: ['test/cli/prometheus.test.ts'],
  },
  {
    name: 'chromium',
    command: 'chromium',
    why: 'shows the dashboard',
    usedBy: ['test/web'],
  },
];

const MISSING = 4;
const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--check');
if (unknown !== undefined) {
  process.stderr.write(`setup: unknown option ${unknown}; the only one is --check\n`);
  process.exit(2);
}
const only = args.includes('--check');

const onPath = (command) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && command !== '' && existsSync(join(folder, command)));

/** Debian's record first; a program on the path is enough, too. */
function isInstalled({ name, command }) {
  const dpkg = spawnSync('dpkg-query', ['-W', '-f', '$' + '{Status}', name], { encoding: 'utf8' });
  return dpkg.stdout?.includes('ok installed') || onPath(command);
}

const missing = [];
for (const entry of PACKAGES) {
  const there = isInstalled(entry);
  if (!there) missing.push(entry.name);
  console.log(
    `${there ? 'installed' : 'missing  '}  ${entry.name}: ${entry.why} (${entry.usedBy.join(', ')})`,
  );
}
if (missing.length === 0) console.log('all installed');
else if (only) process.exitCode = MISSING;
else process.exitCode = install(missing);

/** Returns the exit code. */
function install(names) {
  if (process.getuid?.() !== 0) {
    console.log(`run: sudo apt-get install --no-install-recommends -y ${names.join(' ')}`);
    return MISSING;
  }
  const apt = (...what) => {
    console.log(`apt-get ${what.join(' ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync('apt-get', what, { stdio: ['ignore', 2, 2], env }).status === 0;
  };
  // Old package lists may be enough, so a failed update is not an error.
  apt('update', '-q');
  return apt('install', '-q', '-y', '--no-install-recommends', ...names) ? 0 : MISSING;
}
