/** `proc`: whose processes are collected, how they are called, and processes that come, change and go. */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { collect, open, put, records, tree } from './support.ts';

/** `games`, which is none of the services that are left out. */
const GAMES = 5;

/** A user whose processes are collected, and as whom we may start one; null where there is none. */
function user(): number | null {
  if (process.platform !== 'linux') return null;
  const own = process.getuid?.() ?? 0;
  const wanted = own === 0 ? GAMES : own;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  return users.some((line) => Number(line.split(':')[2]) === wanted) ? wanted : null;
}
const USER = user();

interface Fields {
  readonly name?: string;
  readonly user?: number;
  readonly more?: string;
}

const status = ({ name = 'app', user = 5, more = '' }: Fields = {}) => `Name:\t${name}
State:\tR (running)
Uid:\t7\t${user}\t7\t7
VmPeak:\t    4596 kB
VmSize:\t    4496 kB
VmHWM:\t    4096 kB
VmRSS:\t    4000 kB
Threads:\t4
Cpus_allowed:\tf
Cpus_allowed_list:\t0-1,3
Mems_allowed_list:\t0-1
${more}`;
/** Uid, VmPeak, VmSize, VmLck, VmHWM, VmRSS, VmData, VmStk, VmExe, VmLib, VmPTE, VmSwap, Threads. */
const VALUES = '7 4596 4496 0 4096 4000 0 0 0 0 0 0 4';

describe('proc', () => {
  it('has a record per process: name, number, CPUs, NUMA nodes', () => {
    const root = tree({
      'proc/12/status': status(),
      'proc/meminfo': '',
      'proc/self/status': status(),
    });
    expect(records(root, 'proc')).toEqual([`proc app/12/0-1,3/0-1 ${VALUES}`]);
  });

  it('sees each change, the smallest too, and nothing in what it does not record', () => {
    const file = 'proc/12/status';
    const root = tree({ [file]: status({ more: 'voluntary_ctxt_switches:\t5\n' }) });
    const collection = open(root, ['proc']);
    const seen = (text: string) => {
      put(root, { [file]: text });
      return collection.collect().lines.join('\n');
    };
    const plain = `proc app/12/0-1,3/0-1 ${VALUES}`;
    expect(collection.collect().lines).toEqual([plain]);
    expect(seen(status({ more: 'voluntary_ctxt_switches:\t6\n' }))).toBe(plain);
    const wider = status().replace('Mems_allowed_list:\t0-1\n', 'Mems_allowed_list:\t0-12\n');
    expect(seen(wider)).toBe(plain.replace('/0-1 ', '/0-12 '));
    expect(seen(status())).toBe(plain);
    expect(seen(status().replace('4000', '4001'))).toBe(plain.replace('4000', '4001'));
    expect(seen(status({ name: 'bash' }))).toBe('');
    expect(seen(status({ user: 0 }))).toBe('');
    expect(seen(status())).toBe(plain);
    collection.close();
  });

  it('writes names so that the device stays one word with three slashes', () => {
    const names = ['name with space', 'a/b', '100%', 'tab\there', 'ü', '(sd-pam)', '\0\u0007'];
    const files = names.map((name, k) => [`proc/${k + 1}/status`, status({ name })]);
    const lines = records(tree(Object.fromEntries(files)), 'proc');
    const written = lines.map((line) => line.split(' ')[1].split('/')[0]);
    expect(lines.every((line) => line.split('/').length === 4)).toBe(true);
    expect(written.toSorted()).toEqual(
      [
        'name%20with%20space',
        'a%2Fb',
        '100%25',
        'tab%09here',
        '%C3%BC',
        '(sd-pam)',
        '%00%07',
      ].toSorted(),
    );
    expect(written.map(decodeURIComponent).toSorted()).toEqual(names.toSorted());
  });

  it('leaves out root, services, users that are not known, and shells', () => {
    const passwd = 'root:x:0:0::/:\npostfix:x:89:89::/:\nntp:x:38:38::/:\nada:x:1000:1000::/:\n';
    const users = { 1: 0, 2: 89, 3: 38, 4: 1000, 5: 1001 };
    const files = Object.entries(users).map(([pid, user]) => [
      `proc/${pid}/status`,
      status({ user }),
    ]);
    const shells = ['bash', 'ssh', 'sshd', 'metacity', 'bash2'].map((name, k) => [
      `proc/${k + 10}/status`,
      status({ name, user: 1000 }),
    ]);
    const all = Object.fromEntries([...files, ...shells]);
    const devices = (root: string) =>
      records(root, 'proc')
        .map((line) => line.split(' ')[1])
        .toSorted();
    expect(devices(tree({ ...all, 'etc/passwd': passwd }))).toEqual([
      'app/4/0-1,3/0-1',
      'bash2/14/0-1,3/0-1',
    ]);
    // Where users are in a directory of the cluster too, /etc/passwd is not all.
    const nsswitch = '# comment\npasswd: files [NOTFOUND=continue] sss\n';
    expect(devices(tree({ ...all, 'etc/passwd': passwd, 'etc/nsswitch.conf': nsswitch }))).toEqual([
      'app/4/0-1,3/0-1',
      'app/5/0-1,3/0-1',
      'bash2/14/0-1,3/0-1',
    ]);
    // Without it, only root is known.
    expect(devices(tree(all))).toHaveLength(5);
  });

  it('notices processes that come, go, are renamed, change their user, and take a number again', () => {
    const root = tree({ 'proc/12/status': status(), 'proc/13/status': status() });
    const collection = open(root, ['proc']);
    const devices = () => {
      const { lines, failed } = collection.collect();
      expect(failed).toEqual([]);
      return lines.map((line) => line.split(' ')[1].split('/').slice(0, 2).join('/'));
    };
    expect(devices()).toEqual(['app/12', 'app/13']);
    put(root, { 'proc/12/status': status({ name: 'renamed' }), 'proc/14/status': status() });
    expect(devices()).toEqual(['renamed/12', 'app/13', 'app/14']);
    put(root, { 'proc/13/status': status({ user: 0 }) });
    expect(devices()).toEqual(['renamed/12', 'app/14']);
    rmSync(join(root, 'proc/14'), { recursive: true });
    expect(devices()).toEqual(['renamed/12']);
    put(root, { 'proc/14/status': status({ name: 'other' }) });
    expect(devices()).toEqual(['renamed/12', 'other/14']);
    // Between listing and reading.
    renameSync(join(root, 'proc/12/status'), join(root, 'proc/12/gone'));
    collection.close();
    expect(records(root, 'proc')).toHaveLength(1);
  });

  it('reports a file that says nothing, and goes on', () => {
    const root = tree({ 'proc/12/status': '\0\x01\xff junk', 'proc/13/status': status() });
    const { lines, failed } = collect(root, 'proc');
    expect(lines).toEqual([`proc app/13/0-1,3/0-1 ${VALUES}`]);
    expect(failed).toEqual([`proc: ${root}/proc/12/status does not name its owner`]);
  });

  it.skipIf(USER === null)('notices what starts and ends on this machine', async () => {
    const collection = open(undefined, ['cpu', 'proc']);
    const sleeping = (pid: number | undefined) =>
      collection.collect().lines.some((line) => line.startsWith(`proc sleep/${pid}/`));
    expect(sleeping(0)).toBe(false);
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', uid: USER ?? 0 });
    // Between its start and its becoming another program it has our name.
    await until(() => sleeping(child.pid));
    expect(sleeping(child.pid)).toBe(true);
    child.kill();
    await new Promise((resolve) => child.once('exit', resolve));
    expect(sleeping(child.pid)).toBe(false);
    collection.close();
  });

  it.skipIf(process.platform !== 'linux')(
    'survives processes that end while it reads',
    async () => {
      const collection = open(undefined, ['proc']);
      const children = new Set<ReturnType<typeof spawn>>();
      for (let k = 0; k < 100; k++) {
        if (children.size < 8) {
          const child = spawn('sleep', [String(Math.random() / 50)], { stdio: 'ignore' });
          children.add(child);
          child.once('exit', () => children.delete(child));
        }
        expect(collection.collect().failed).toEqual([]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(
        [...children].map((child) => new Promise((end) => child.once('exit', end))),
      );
      collection.close();
    },
  );
});
