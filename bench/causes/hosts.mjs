// Two hosts on this machine with a slow cable between them: namespaces for network and host name, and slow-link.c.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SPACES = ['--net', '--uts', '--fork', '--kill-child'];
const NAMES = ['causes-a', 'causes-b'];
const SOURCE = fileURLToPath(new URL('slow-link.c', import.meta.url));

/** Why there can be no hosts here; null if there can. */
export function lacksHosts() {
  if (process.getuid?.() !== 0) return 'needs root';
  for (const [command, ...words] of [
    ['mpirun', '--version'],
    ['ip', '-V'],
    ['nsenter', '--version'],
    ['cc', '--version'],
    ['unshare', ...SPACES, 'test', '-c', '/dev/net/tun'],
  ])
    if (spawnSync(command, words).status !== 0) return `needs ${command} ${words.join(' ')}`;
  return null;
}

const firstLine = (child) =>
  new Promise((resolve, reject) => {
    child.stdout.once('data', (data) => resolve(String(data).trim()));
    child.once('close', () => reject(new Error(`${child.spawnargs.join(' ')}: ended`)));
  });

/** Makes them. Each message takes `delay` seconds. Returns the words before a command that runs on both. */
export async function makeHosts(delay) {
  const folder = mkdtempSync(join(tmpdir(), 'causes-hosts-'));
  const children = [];
  const remove = () => {
    for (const child of children.reverse()) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  const started = async (...words) => {
    const child = spawn(words[0], words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    return await firstLine(child);
  };
  try {
    const pids = [];
    for (const name of NAMES)
      pids.push(
        await started(
          'unshare',
          ...SPACES,
          'sh',
          '-c',
          `hostname ${name}; echo $$; exec sleep 600`,
        ),
      );
    const relay = join(folder, 'slow-link');
    execFileSync('cc', ['-O2', '-o', relay, SOURCE]);
    await started(relay, ...pids, `${Math.round(1e6 * delay)}`);
    for (const [k, pid] of pids.entries()) {
      const up = `ip link set lo up; ip addr add 10.231.9.${k + 1}/24 dev tri0; ip link set tri0 up`;
      execFileSync('nsenter', ['-t', pid, '-n', 'sh', '-c', up]);
      writeFileSync(join(folder, NAMES[k]), pid);
    }
    const agent = join(folder, 'agent');
    const enter = `exec nsenter -t $(cat ${folder}/$host) -n -u sh -c "$*"`;
    writeFileSync(agent, `#!/bin/sh\nhost=$1; shift\n${enter}\n`);
    chmodSync(agent, 0o755);
    const mca = ['plm_rsh_agent', agent, 'btl', 'tcp,self', 'btl_tcp_if_include', 'tri0'];
    const words = [
      ...[relay, 'run', 'nsenter', '-t', pids[0], '-n', '-u', 'mpirun', '--allow-run-as-root'],
      ...['--oversubscribe', '--leave-session-attached'],
      ...[...mca, 'oob_tcp_if_include', 'tri0'].flatMap((word, k) =>
        k % 2 ? [word] : ['--mca', word],
      ),
      ...['--host', NAMES.map((name) => `${name}:1`).join(), '-np', '2'],
    ];
    return { words, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
