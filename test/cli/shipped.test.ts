/**
 * The files that are shipped for a cluster, each where it says that it belongs, run in a root of its own: the system's programs, an
 * empty /etc, /var, /opt and /usr/local, and what Slurm, cron, systemd and modules give them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const shipped = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const mayMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
const has = (program: string, ...words: readonly string[]) =>
  spawnSync(program, words).error === undefined;

/** Where each file's first lines say that it goes. */
const PLACES: Readonly<Record<string, string>> = {
  'docs/node/slurm-prolog.sh': 'etc/slurm/prolog.d/triscope.sh',
  'docs/node/slurm-epilog.sh': 'etc/slurm/epilog.d/triscope.sh',
  'docs/node/triscope-node.cron': 'etc/cron.d/triscope',
  'docs/node/triscope-node.service': 'etc/systemd/system/triscope-node.service',
  'examples/cluster/triscope-archive.service': 'etc/systemd/system/triscope-archive.service',
  'examples/cluster/triscope.modulefile': 'usr/share/modulefiles/triscope/0.1.0',
};

/** Mounts the root at $1, and runs the words behind it there. */
const IN_ROOT = `set -e
root=$1; shift
for dir in bin lib lib64 sbin; do [ -e /$dir ] && mkdir -p $root/$dir && mount --rbind /$dir $root/$dir; done
mkdir -p $root/usr && for dir in /usr/*; do
  case $dir in /usr/local|/usr/share) ;; *) mkdir -p $root$dir && mount --rbind $dir $root$dir ;; esac
done
for dir in proc sys dev; do mkdir -p $root/$dir && mount --rbind /$dir $root/$dir; done
mkdir -p $root/tmp $root/run $root/var $root/opt/triscope $root/opt/node-20/bin $root/usr/local/bin
mount --rbind "$TRISCOPE" $root/opt/triscope
touch $root/opt/node-20/bin/node && mount --bind "$NODE" $root/opt/node-20/bin/node
ln -sfn /opt/triscope/bin/triscope $root/usr/local/bin/triscope
ln -sfn /opt/node-20/bin/node $root/usr/local/bin/node
for own in $root/usr/bin/node $root/bin/node; do [ ! -e $own ] || mount --bind /dev/null $own; done
exec /usr/sbin/chroot $root "$@"`;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'triscope-root-'));
  const files: Record<string, string> = {
    'etc/passwd': 'root:x:0:0::/root:/bin/sh\ntriscope:x:990:990::/:/bin/false\n',
    'etc/group': 'root:x:0:\ntriscope:x:990:\n',
    'etc/triscope/archive.env': 'BROKER=127.0.0.1\n',
    ...Object.fromEntries(Object.entries(PLACES).map(([path, place]) => [place, shipped(path)])),
  };
  for (const [place, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, place)), { recursive: true });
    writeFileSync(join(root, place), text);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What systemd gives its services; cron and slurmd give less, which the files themselves make up for. */
const SYSTEMD = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function inRoot(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-m', '--propagation', 'private', 'sh', '-c', IN_ROOT, 'sh', root, ...words],
    {
      encoding: 'utf8',
      env: {
        PATH: '/usr/bin:/bin',
        TRISCOPE: ROOT,
        NODE: process.execPath,
        ...env,
      },
    },
  );
  return { status, out: stdout, err: stderr };
}
const sh = (text: string, env: Readonly<Record<string, string>> = {}) =>
  inRoot(['sh', '-c', text], env);
const log = () => sh('cat /var/log/triscope/current').out;
const groups = () =>
  [...log().matchAll(/^\d[\d.]* (\S+).*\n(?:%(.*)\n)?/gm)].map(([, ...found]) => found);

describe.skipIf(!mayMount)('in a root of its own (needs the right to mount)', () => {
  it('each file says where it goes', () => {
    for (const path of Object.keys(PLACES).filter((path) => !path.endsWith('.modulefile'))) {
      const place = PLACES[path].replace(/\/[^/]*$/, '');
      expect([path, shipped(path).slice(0, 300).includes(place)]).toEqual([path, true]);
    }
  });

  it('prolog and epilog, as slurmd calls them: a job from begin to end, and one whose epilog was missed', () => {
    const quiet = { status: 0, out: '', err: '' };
    const call = (place: string, job: string) => inRoot(['sh', `/${place}`], { SLURM_JOB_ID: job });
    expect(call(PLACES['docs/node/slurm-prolog.sh'], '55')).toEqual(quiet);
    expect(call(PLACES['docs/node/slurm-prolog.sh'], '56')).toEqual(quiet);
    expect(call(PLACES['docs/node/slurm-epilog.sh'], '56')).toEqual(quiet);
    expect(groups()).toEqual([
      ['55', 'begin 55'],
      ['56', 'begin 56'],
      ['56', 'end 56'],
    ]);
  });

  it('the lines of cron, as cron runs them', () => {
    const lines = shipped('docs/node/triscope-node.cron').split('\n');
    const commands = lines.flatMap((line) => /^[\d*/]+( \S+){4} root (.*)$/.exec(line)?.[2] ?? []);
    expect(commands).toHaveLength(3);
    // At once, not at another minute on each node.
    const text = commands.map((one) => one.replace('0-7200', '0-0')).join('\n');
    const settings = lines.filter((line) => /^\w+=/.test(line));
    const { status, err } = sh([...settings, 'set -e', 'mkdir -p /scratch', text].join('\n'));
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(sh('ls /scratch/triscope/archive /var/log/triscope').out).toContain('lock');
  });

  it('the unit of the daemon, as systemd starts it', () => {
    const [, start = ''] =
      /^ExecStart=(.*)$/m.exec(shipped('docs/node/triscope-node.service')) ?? [];
    const { status, err } = sh(`exec ${start} --once`, { PATH: SYSTEMD });
    expect([status, err]).toEqual([0, expect.stringContaining('1 samples')]);
    expect(log()).toMatch(/^cpu 0 \d+/m);
  });

  it.skipIf(!has('systemd-analyze', '--version'))('systemd takes both units where they are', () => {
    const units = Object.values(PLACES).filter((place) => place.endsWith('.service'));
    const { status, err } = inRoot(
      ['systemd-analyze', 'verify', ...units.map((one) => `/${one}`)],
      { PATH: SYSTEMD },
    );
    expect([status, err.split('\n').filter((line) => line.includes('triscope'))]).toEqual([0, []]);
  });

  it.skipIf(!has('tclsh', '/dev/null'))(
    'the module file, as modules read it: the program is on the path',
    () => {
      // What the file may call, in the words of a shell.
      const module = `proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name folder} { puts "$name=$folder:\\$$name" }
source /${PLACES['examples/cluster/triscope.modulefile']}`;
      writeFileSync(join(root, 'module.tcl'), module);
      const { status, out } = sh(
        'eval "$(tclsh /module.tcl)"; command -v triscope; triscope --version',
      );
      expect([status, out.split('\n')[0]]).toEqual([0, '/opt/triscope/bin/triscope']);
      expect(out).toMatch(/^\d+\.\d+\.\d+/m);
    },
  );
});
