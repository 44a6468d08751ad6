/**
 * Two hosts on this machine: network, host name and monotonic clock of their own (namespaces), and a cable between them.
 * mpirun starts its daemon on the other as on any cluster, but by nsenter in place of ssh.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HAS_MPI, type JobOutcome, outcomeOf } from './mpirun.ts';

const NAMESPACES = ['--net', '--uts', '--time', '--fork'];

const possible = () =>
  spawnSync('unshare', [...NAMESPACES, 'true']).status === 0 &&
  spawnSync('ip', ['-V']).status === 0 &&
  spawnSync('nsenter', ['--version']).status === 0;

export const HAS_HOSTS = HAS_MPI && process.getuid?.() === 0 && possible();
export const NEEDS_HOSTS = HAS_HOSTS ? '' : ' (needs openmpi-bin, iproute2, root with namespaces)';

export interface HostSpec {
  readonly name: string;
  /** Seconds that its monotonic clock is ahead. */
  readonly ahead: number;
}

const ENTER = ['-n', '-u', '-T'];

export class Hosts {
  readonly names: readonly string[];
  private readonly folder = mkdtempSync(join(tmpdir(), 'triscope-hosts-'));
  private readonly keepers: ChildProcess[] = [];
  private readonly pids = new Map<string, number>();

  private constructor(hosts: readonly HostSpec[]) {
    this.names = hosts.map(({ name }) => name);
  }

  /** Makes two. `remove` them afterwards. */
  static async make(hosts: readonly [HostSpec, HostSpec]): Promise<Hosts> {
    const made = new Hosts(hosts);
    for (const host of hosts) await made.add(host);
    made.cable();
    return made;
  }

  private async add({ name, ahead }: HostSpec): Promise<void> {
    const script = `hostname ${name}; echo $$; exec sleep 300`;
    const clock = ['--monotonic', `${ahead}`];
    const keeper = spawn('unshare', [...NAMESPACES, '--kill-child', ...clock, 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.keepers.push(keeper);
    const line = await new Promise<string>((resolve) =>
      keeper.stdout?.once('data', (data) => resolve(String(data))),
    );
    this.pids.set(name, Number(line));
    writeFileSync(join(this.folder, name), line);
  }

  private cable(): void {
    const [a, b] = this.names.map((name) => `${this.pids.get(name)}`);
    const device = `tri${process.pid}`;
    execFileSync('ip', [
      ...['link', 'add', device, 'netns', a, 'type', 'veth'],
      ...['peer', 'name', device, 'netns', b],
    ]);
    [a, b].forEach((pid, k) => {
      const up = `ip link set lo up; ip addr add 10.231.7.${k + 1}/24 dev ${device}; ip link set ${device} up`;
      execFileSync('nsenter', ['-t', pid, '-n', 'sh', '-c', up]);
    });
    const agent = `#!/bin/sh\nhost=$1; shift\nexec nsenter -t $(cat ${this.folder}/$host) ${ENTER.join(' ')} sh -c "$*"\n`;
    writeFileSync(join(this.folder, 'agent'), agent);
    chmodSync(join(this.folder, 'agent'), 0o755);
  }

  /** Runs `node …args` on so many ranks of each. */
  mpirun(
    each: number,
    args: readonly string[],
    meanwhile?: (job: ChildProcess) => void,
  ): Promise<JobOutcome> {
    const pid = `${this.pids.get(this.names[0])}`;
    const where = this.names.map((name) => `${name}:${each}`).join();
    const job = spawn(
      'nsenter',
      [
        ...['-t', pid, ...ENTER, 'mpirun', '--allow-run-as-root', '--oversubscribe'],
        ...['--mca', 'plm_rsh_agent', join(this.folder, 'agent'), '--host', where],
        ...['-np', `${each * this.names.length}`, process.execPath, ...args],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    return outcomeOf(job, meanwhile);
  }

  /** Processes whose host name is `name`'s and whose command line has `word`. */
  processes(name: string, word: string): number[] {
    const pid = this.pids.get(name);
    const words = execFileSync('pgrep', ['--ns', `${pid}`, '--nslist', 'uts', '-f', word], {
      encoding: 'utf8',
    });
    return words.split('\n').filter(Boolean).map(Number);
  }

  remove(): void {
    for (const [name] of this.pids) {
      try {
        process.kill(Number(readFileSync(join(this.folder, name), 'utf8')), 'SIGKILL');
      } catch {
        // It has gone.
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
