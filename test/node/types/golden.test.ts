/** Trees that the original collected from: the same records. Trees of other people's machines: known facts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, folder, open, records, schema } from './support.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

function unpack(archive: string): string {
  const into = join(folder, archive.replaceAll('/', '-'));
  mkdirSync(into, { recursive: true });
  execFileSync('tar', ['-xzf', join(GOLDEN ?? '', archive), '-C', into]);
  return into;
}

/** Types of the trees' files. tmpfs is not in it: its numbers were those of a mounted file system. */
const TYPES = 'block cpu ib llite lnet mdc mem net nfs numa osc proc ps sysv_shm vfs vm'.split(' ');

/** Keys of a file's type that ours has too, in our order: versions have added some. */
function sharedKeys(
  header: readonly string[],
  type: string,
  here: readonly string[],
): { theirs: number[]; ours: number[] } {
  const schema = header.find((line) => line.startsWith(`!${type} `)) ?? `!${type}`;
  const keys = schema.split(' ').slice(1);
  const names = keys.map((key) => key.split(',')[0]);
  const metrics = NODE_TYPES.find(({ name }) => name === type)?.metrics ?? [];
  const shared = metrics.map(({ key }) => key).filter((key) => names.includes(key));
  return {
    theirs: shared.map((key) => names.indexOf(key)),
    ours: shared.map((key) => here.indexOf(key)),
  };
}

function projected(line: string, keys: readonly number[], values: number): string {
  const words = line.split(' ');
  // The original writes the blanks of a process's name.
  const numbers = words.slice(words.length - values);
  const [type, device] = [words[0], words.slice(1, words.length - values).join(' ')];
  // What this machine does not count is not in our schema; the original writes 0.
  return [type, device, ...keys.map((key) => (key < 0 ? '0' : numbers[key]))].join(' ');
}

/** `name%20with%20space/1236/0-3/0-1` as the original wrote it in 2.3.0: `name with space/1236`. */
const oldDevice = (line: string) =>
  line.replace(/^proc (\S+)\/(\d+)\/\S+\/\S+/, (_, name, pid) => {
    return `proc ${decodeURIComponent(name)}/${pid}`;
  });

describe.skipIf(GOLDEN === undefined)('trees that the original collected from', () => {
  it.each(['fixture_snb_v2.3.0', 'fixture_amd10h_v1.0.2'])(
    '%s: the records of each moment',
    (fixture) => {
      const at = join('tacc_stats', fixture);
      const trees = unpack(join(at, 'trees.tar.gz'));
      const [host] = readdirSync(join(GOLDEN ?? '', at)).filter((name) =>
        name.endsWith('.example'),
      );
      const [name] = readdirSync(join(GOLDEN ?? '', at, host));
      const [head, ...groups] = readFileSync(join(GOLDEN ?? '', at, host, name), 'utf8').split(
        '\n\n',
      );
      const header = head.split('\n');
      expect(groups).toHaveLength(4);
      let compared = 0;
      for (const [k, group] of groups.entries()) {
        const all = records(join(trees, `tree${k}`), ...TYPES);
        for (const type of TYPES) {
          const wanted = group.split('\n').filter((line) => line.startsWith(`${type} `));
          // Version 1.0.2 had fewer types.
          if (wanted.length === 0) continue;
          const here = (schema(join(trees, `tree${k}`), type) ?? '')
            .split(' ')
            .slice(1)
            .map((key) => key.split(',')[0]);
          const keys = sharedKeys(header, type, here);
          const values =
            header.find((line) => line.startsWith(`!${type} `))?.split(' ').length ?? 0;
          const got = all.filter((line) => line.startsWith(`${type} `));
          expect(
            got.map((line) => oldDevice(projected(line, keys.ours, here.length))).sort(),
          ).toEqual(wanted.map((line) => projected(line, keys.theirs, values - 1)).sort());
          compared += wanted.length;
        }
      }
      expect(compared).toBeGreaterThan(70);
    },
  );
});

describe.skipIf(GOLDEN === undefined)('trees of other machines', () => {
  it('a client and server of Lustre', () => {
    const root = unpack('node-trees/lustre.tar.gz');
    const device = 'lustrefs-clilov';
    // In the order of the schema: read, write, direct, osc; dirty pages; ioctl, open, close, mmap, seek, fsync,
    // setattr, truncate, flock, getattr, statfs, alloc_inode, setxattr, getxattr, listxattr, removexattr,
    // inode_permission, readdir, and what makes and removes files.
    expect(records(root, 'llite')).toEqual([
      `llite ${device} 4194304 93813797294080 0 0 0 0 0 0 0 136 96 0 0 0 0 134 0 41 0 2 0 85 0 134 398 12 0 0 0 0 0 0 0 0 0`,
    ]);
    expect(records(root, 'lnet')).toEqual([
      'lnet - 101719323 101719291 0 21201322992 53029565353720 0',
    ]);
    expect(records(root, 'mdc')).toEqual([`mdc ${device} 28 11 1 0 0 4 2 0 7604 3103430`]);
    // Summed over the seven OSTs; those of the metadata server are no client's.
    expect(records(root, 'osc')).toEqual([
      `osc ${device} 0 65298098221056 0 134 0 0 14 18210286 18259672 110297517235`,
    ]);
  });

  it('a machine with InfiniBand, Omni-Path, and broken files', () => {
    const root = unpack('node-trees/ib-nfs-powercap.tar.gz');
    const { lines, failed, absent } = collect(root);
    expect(lines).toContain('cpu 0 44490 19 21045 1087069 220 1 3410');
    const xmit = NODE_TYPES.find(({ name }) => name === 'ib')?.metrics.findIndex(
      ({ key }) => key === 'port_xmit_data',
    );
    const ports = lines.filter((line) => line.startsWith('ib ')).map((line) => line.split(' '));
    expect(ports.map(([, port]) => port)).toEqual(['hfi1_0.1', 'mlx4_0.1', 'mlx4_0.2', 'mlx5_0.1']);
    expect(ports[1][2 + (xmit ?? 0)]).toBe('26509113295');
    expect(lines.filter((line) => line.startsWith('proc '))).toEqual([
      'proc prometheus/26231/0-7/0 1000 58472 58440 0 8028 6716 2580 136 948 6816 128 660 1',
    ]);
    expect(failed).toEqual([]);
    expect(absent).toContain('llite');
    expect(lines).toContain('psi - 15 15 25 15 25');
    expect(lines).toContain('amd_gpu 0 4 8573157376 1490378752 144560128');
    const [nfs4] = lines.filter((line) => line.startsWith('nfs4 '));
    expect(nfs4).toMatch(/^nfs4 \/mnt\/nfs\/test 52 226 0 0 1 13 398 /);
    // Sends of its connection, and its reads.
    expect(nfs4).toMatch(/ 6428 6428 0 12154 0 .* 1298 1298 0 207680 1210292152 6 79386 79407 /);
    // Zone 10 is `intel-rapl:a`.
    const daemon = open(root, ['powercap'], { wide: true });
    expect(daemon.collect().lines).toEqual([
      'powercap package-0 0',
      'powercap package-0/core 0',
      'powercap package-10 0',
    ]);
    daemon.close();
  });
});
