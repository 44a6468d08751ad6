/** Sources that never answer: a pipe without a writer stands for a file whose server hangs. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NodeSampler } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { triscope } from '../../cli/support/run.ts';
import { until } from '../../support/until.ts';
import { folder, open, tree } from './support.ts';

const SB = 'ffff8102658ec800';
const LUSTRE = {
  'proc/stat': 'cpu0 1 2 3 4 5 6 7\n',
  [`proc/fs/lustre/lov/scratch-clilov-${SB}/x`]: '',
  [`proc/fs/lustre/llite/scratch-${SB}/stats`]: 'read_bytes 2 samples [bytes] 1 9 10\n',
  'proc/sys/lnet/stats': '0 0 0 1 2 0 3 4 5 0 6\n',
  [`proc/fs/lustre/osc/scratch-OST0000-osc-${SB}/stats`]: 'ost_read 3 samples [usec] 1 2 4\n',
};
const TYPES = ['cpu', 'llite', 'lnet', 'mdc', 'osc'];
const CPU_LINE = 'cpu 0 1 2 3 4 5 6 7';
const LNET_LINE = 'lnet - 1 2 3 4 5 6';
const LLITE_LINE = `llite scratch-clilov 10${' 0'.repeat(34)}`;

/** A tree where the metadata client's file hangs when it is opened. */
function hanging(): { root: string; pipe: string } {
  const root = tree({ ...LUSTRE, [`proc/fs/lustre/mdc/scratch-MDT0000-mdc-${SB}/x`]: '' });
  const pipe = join(root, `proc/fs/lustre/mdc/scratch-MDT0000-mdc-${SB}/stats`);
  execFileSync('mkfifo', [pipe]);
  return { root, pipe };
}

/** Processes that read for this tree. */
function readers(root: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return words.includes('types/child.js') && words.includes(root);
    } catch {
      return false;
    }
  }).length;
}

describe.skipIf(process.platform !== 'linux')('a source that may never answer', () => {
  it('is read in a child process, which stays from collection to collection', () => {
    const root = tree(LUSTRE);
    const collection = open(root, TYPES);
    for (let k = 0; k < 3; k++) {
      const { lines, failed } = collection.collect();
      expect(failed).toEqual([]);
      expect(lines).toEqual([
        CPU_LINE,
        LLITE_LINE,
        LNET_LINE,
        'osc scratch-clilov 0 0 0 0 3 0 0 0 0 0',
      ]);
      expect(readers(root)).toBe(1);
    }
    collection.close();
  });

  it('is left at its deadline; what was read before it, and all others, are recorded', () => {
    const { root } = hanging();
    // Time enough for the child to start on a busy machine.
    const collection = open(root, TYPES, { deadline: 1500 });
    const { lines, failed } = collection.collect();
    expect(lines).toEqual([CPU_LINE, LLITE_LINE, LNET_LINE]);
    expect(failed).toEqual([
      'mdc: no answer within 1.5 s; its file system may hang',
      'osc: no answer within 1.5 s; its file system may hang',
    ]);
    collection.close();
  });

  it('is not asked again before it has answered', async () => {
    const { root, pipe } = hanging();
    const collection = open(root, TYPES, { deadline: 200 });
    collection.collect();
    const { lines, failed } = collection.collect();
    expect(lines).toEqual([CPU_LINE]);
    expect(failed).toEqual(
      TYPES.slice(1).map((type) => `${type}: an earlier read has not come back`),
    );
    expect(readers(root)).toBe(1);
    // The server comes back.
    const file = openSync(pipe, 'r+');
    await until(() => collection.collect().lines.includes(LLITE_LINE));
    closeSync(file);
    collection.close();
  });

  it('does not hold up the end', async () => {
    const { root } = hanging();
    const { code, out, err } = await triscope(['node', 'collect', '--root', root, ...TYPES]);
    expect(code).toBe(0);
    expect(out).toContain(`${CPU_LINE}\n${LLITE_LINE}\n${LNET_LINE}\n`);
    expect(err).toContain('no records of type mdc: no answer within 2 s');
    // Its reader ends with it, as far as it can be woken.
    await until(() => readers(root) === 0);
  });

  it('is read by another process where the first has ended', () => {
    const root = tree(LUSTRE);
    const collection = open(root, TYPES);
    collection.collect();
    const [pid] = readdirSync('/proc').filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(`"root":"${root}"`);
      } catch {
        return false;
      }
    });
    process.kill(Number(pid), 'SIGKILL');
    let lines: readonly string[] = [];
    for (let k = 0; k < 3 && !lines.includes(LLITE_LINE); k++) ({ lines } = collection.collect());
    expect(lines).toContain(LLITE_LINE);
    collection.close();
  });

  it('may be given by a path from here, and be read beside a run', async () => {
    const root = relative(process.cwd(), tree(LUSTRE));
    const sampler = await NodeSampler.start({
      folder,
      interval: 20,
      jobId: '1',
      root,
      types: TYPES,
    });
    const { failures } = await sampler.stop();
    expect([...failures]).toEqual([]);
    expect(readFileSync(sampler.file, 'utf8').split('\n')).toContain(LLITE_LINE);
  });

  it('is a tmpfs behind a server, too', () => {
    const mounts = (place: string) =>
      `rootfs / rootfs rw 0 0\nserver:/home /home nfs rw 0 0\ntmpfs ${place} tmpfs rw 0 0\n`;
    for (const [place, children] of [
      ['/home/scratch', 1],
      ['/homes', 0],
      ['/dev/shm', 0],
    ] as const) {
      const root = tree({ 'proc/mounts': mounts(place) });
      const collection = open(root, ['tmpfs']);
      expect(collection.collect()).toEqual({ lines: [], failed: [], absent: [] });
      expect(readers(root)).toBe(children);
      collection.close();
    }
  });

  it('needs no child where there is none', () => {
    const root = tree({ 'proc/stat': LUSTRE['proc/stat'] });
    const collection = open(root, []);
    collection.collect();
    expect(readers(root)).toBe(0);
    collection.close();
  });
});

it('a pipe in a recorded tree stops nothing', () => {
  const root = tree({ 'proc/stat': LUSTRE['proc/stat'] });
  execFileSync('mkfifo', [join(root, 'proc/vmstat')]);
  const collection = open(root, []);
  const { lines, absent } = collection.collect();
  expect(lines).toContain(CPU_LINE);
  expect(absent).toContain('vm');
  collection.close();
});
