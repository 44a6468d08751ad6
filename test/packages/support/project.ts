/** A project that is empty but for the package, installed from its tarball as npm does it, and a room in which nothing else is. */
import {
  type ExecFileSyncOptionsWithStringEncoding,
  execFileSync,
  spawn,
  spawnSync,
} from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url));
/** Nobody in particular: neither root nor a user of the machine. */
const USER = 60_123;
const isRoot = process.getuid?.() === 0;

/** Whether this machine lets us mount in a namespace of our own. */
export const HAS_ROOMS: boolean =
  spawnSync('unshare', [...(isRoot ? [] : ['--map-root-user']), '--mount', 'true']).status === 0;

interface Locked {
  readonly dev?: boolean;
}

/** Packs the checkout, and installs the tarball in the empty folder by npm, from what it has kept of `npm ci`. Gives the tarball. */
export function install(folder: string): string {
  const quiet: ExecFileSyncOptionsWithStringEncoding = {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  };
  const file = execFileSync('npm', ['pack', ROOT, '--ignore-scripts', '--silent'], quiet).trim();
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { dependencies, optionalDependencies, bin, engines, version } = lock.packages[''];
  const wanted = { triscope: `file:${file}` };
  const own = {
    version,
    resolved: `file:${file}`,
    dependencies,
    optionalDependencies,
    bin,
    engines,
  };
  const needed = Object.entries(lock.packages as Record<string, Locked>).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  );
  const packages = {
    '': { name: 'empty', dependencies: wanted },
    'node_modules/triscope': own,
    ...Object.fromEntries(needed),
  };
  const write = (name: string, what: object) =>
    writeFileSync(join(folder, name), JSON.stringify(what));
  write('package.json', { name: 'empty', private: true, dependencies: wanted });
  write('package-lock.json', { name: 'empty', lockfileVersion: 3, requires: true, packages });
  execFileSync(
    'npm',
    ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'],
    quiet,
  );
  return join(folder, file);
}

/** What commands of a C compiler end at. */
const COMPILERS = ['cc', 'gcc', 'c++', 'g++', 'clang', 'clang++'];

export interface Room {
  /** Where commands run, and find what they have written. The same path within and outside. */
  readonly home: string;
  /** What is in the project's node_modules, as a path of the room. */
  readonly modules: string;
  /** Runs it in `folder`, by default its home. */
  run(command: string, folder?: string): Result;
  /** Ends it. */
  close(): void;
}

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RoomOptions {
  /** Leaves the machine's compilers in it. */
  readonly compilers?: boolean;
  /** Folders of node_modules that are empty in it. */
  readonly without?: readonly string[];
}

/**
 * A root directory with the system's programs and libraries, an empty home, and the project's node_modules, all but the home
 * read-only; commands run there as a user who is not root, without a compiler. Neither the checkout nor another user's files
 * are in it. Its paths have a blank and letters that are not ASCII.
 */
export async function room(
  base: string,
  project: string,
  options: RoomOptions = {},
): Promise<Room> {
  const [root, home] = ['room', 'jürgen größer'].map((name) => join(base, name)) as [
    string,
    string,
  ];
  for (const folder of [root, home]) mkdirSync(folder);
  if (isRoot) chownSync(home, USER, USER);
  const inside = `/home/jürgen größer`;
  const modules = `${inside}/node_modules`;
  mkdirSync(join(home, 'node_modules'));
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const bind = (from: string, to: string) => [
    `mkdir -p ${quoted(root + to)}`,
    `mount --rbind ${quoted(from)} ${quoted(root + to)}`,
  ];
  const frozen = (from: string, to: string) => [
    `mkdir -p ${quoted(root + to)}`,
    `mount --bind ${quoted(from)} ${quoted(root + to)}`,
    `mount -o remount,ro,bind ${quoted(root + to)}`,
  ];
  const setUp = [
    'set -e',
    `mount -t tmpfs -o mode=755 room ${quoted(root)}`,
    ...frozen('/usr', '/usr'),
    ...frozen('/etc', '/etc'),
    // Links into /usr on most systems, folders on others.
    `for name in bin sbin lib lib32 lib64; do if [ -L /$name ]; then cp -P /$name ${quoted(root)}/; elif [ -d /$name ]; then mkdir ${quoted(root)}/$name; mount --bind /$name ${quoted(root)}/$name; fi; done`,
    ...['/proc', '/sys', '/dev'].flatMap((path) => bind(path, path)),
    `mkdir -m 1777 ${quoted(`${root}/tmp`)}`,
    `mkdir -p ${quoted(`${root}/opt/node`)}`,
    `touch ${quoted(`${root}/opt/node/node`)}`,
    `mount --bind ${quoted(process.execPath)} ${quoted(`${root}/opt/node/node`)}`,
    ...bind(home, inside),
    ...frozen(join(project, 'node_modules'), modules),
    ...(options.without ?? []).map(
      (name) => `mount -t tmpfs -o ro without ${quoted(`${root}${modules}/${name}`)}`,
    ),
    ...(options.compilers
      ? []
      : COMPILERS.map(
          (name) =>
            `if file=$(readlink -f /usr/bin/${name}) && [ -f "$file" ]; then mount --bind /dev/null ${quoted(root)}"$file"; fi`,
        )),
  ].join('\n');
  const words = [...(isRoot ? [] : ['--map-root-user']), '--mount', '--propagation=private'];
  // The room is there as long as somebody is in it.
  const ready = join(base, 'ready');
  const keep = `${setUp}\ntouch ${quoted(ready)}\nexec sleep infinity`;
  const keeper = spawn('unshare', [...words, 'sh', '-c', keep], { stdio: 'ignore' });
  while (!existsSync(ready)) {
    if (keeper.exitCode !== null) throw new Error('there is no room');
    await setTimeout(10);
  }
  const into = ['--target', String(keeper.pid), '--mount', ...(isRoot ? [] : ['--user'])];
  const who = isRoot ? [`--userspec=${USER}:${USER}`] : [];
  const settings = ['-i', `HOME=${inside}`, `PATH=${modules}/.bin:/opt/node:/usr/bin:/bin`];
  return {
    home,
    modules,
    run(command, folder = '') {
      const { status, stdout, stderr } = spawnSync(
        'nsenter',
        [
          ...into,
          ...['chroot', ...who, root, '/usr/bin/env', ...settings, 'LANG=C.UTF-8'],
          ...['/bin/bash', '-c', `cd ${quoted(join(inside, folder))} && ${command}`],
        ],
        { encoding: 'utf8' },
      );
      return { status, stdout, stderr };
    },
    close: () => keeper.kill('SIGKILL'),
  };
}

/** Makes packages of the checkout, such as types of Node's, known to the compiler in `folder`. */
export function link(folder: string, name: string): void {
  const to = join(folder, 'node_modules', name);
  mkdirSync(join(to, '..'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), to);
}
